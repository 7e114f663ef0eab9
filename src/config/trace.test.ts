import { describe, expect, it } from 'vitest';
import { parseEnv } from './env.ts';

const database = { DATABASE_URL: 'postgresql://localhost/signalbox' };

const parsed = (env: Record<string, string>) => {
  const result = parseEnv({ ...database, ...env });
  return result.kind === 'parsed' ? result.config.trace : result.problems;
};

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

describe('traces', () => {
  it('are off without a URL, and if a variable turns them off', () => {
    expect(parsed({ OTEL_SERVICE_NAME: 'queue' })).toBeNull();
    expect(parsed({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' })).toBeNull();
    expect(parsed({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
  });

  it('go to the address with its path, or to the whole one', () => {
    expect(parsed(endpoint)).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: {},
      serviceName: 'signalbox',
      attributes: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
    });
    const whole = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in' };
    expect(parsed({ ...endpoint, ...whole })).toMatchObject({ url: 'https://traces.example/in' });
  });

  it('take headers and attributes as they are written everywhere', () => {
    expect(
      parsed({
        ...endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20fake, x-odd=100%',
        OTEL_RESOURCE_ATTRIBUTES: 'region=eu=1',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
      }),
    ).toMatchObject({
      headers: { authorization: 'Bearer fake', 'x-odd': '100%' },
      attributes: { region: 'eu=1' },
      sampler: 'traceidratio',
      ratio: 0.25,
    });
  });

  it('report each problem with its variable, and repeat no secret', () => {
    const problems = parsed({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'fakesecret',
      OTEL_TRACES_SAMPLER_ARG: 'half',
    }) as readonly string[];
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_TRACES_SAMPLER_ARG',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
    ]);
    expect(problems.join('\n')).not.toContain('fakesecret');
  });
});
