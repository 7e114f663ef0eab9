import { describe, expect, it } from 'vitest';
import { parseEnv } from './env.ts';
import { variables } from './variable.ts';

type Env = Readonly<Record<string, string>>;

const database = { DATABASE_URL: 'postgresql://sb:pw@db:5432/signalbox' };

function configOf(env: Env) {
  const result = parseEnv(env);
  if (result.kind === 'invalid') throw new Error(result.problems.join('\n'));
  return result.config;
}

function problemsOf(env: Env): readonly string[] {
  const result = parseEnv(env);
  return result.kind === 'invalid' ? result.problems : [];
}

describe('the environment', () => {
  it('needs no more than a database, and has a default for the rest', () => {
    expect(configOf(database)).toEqual({
      cells: [{ name: 'main', url: database.DATABASE_URL }],
      address: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://localhost:8080',
      isPublicUrlGiven: false,
      sandbox: 'auto',
      committer: null,
      sandboxScripts: false,
      dataDir: '.data',
      mirrorBytesMax: null,
      isPartialClone: true,
      aliveFile: null,
      sweepMs: 30_000,
      secretKey: null,
      gitHosts: ['https://github.com', 'https://codeberg.org', 'https://gitea.com'],
      commandNames: ['signalbox'],
      bootstrap: null,
      logLevel: 'info',
      rateLimit: { perSecond: 100, burst: 200, metricsPerSecond: 5 },
      connections: 10,
      readerConnections: 4,
      workerConcurrency: 10,
      drainMs: 0,
      shutdownMs: 25_000,
      historyMonths: 24,
      recordMonths: 120,
      targetDays: 90,
      ticketUrl: null,
      webhook: { allow: { networks: [], hosts: [] }, timeoutMs: 10_000 },
      upload: {
        bytesMax: 512 * 1_048_576,
        addressMs: 3_600_000,
        quota: { uploads: 20_000, bytes: 20_480 * 1_048_576 },
      },
      blob: null,
      oidc: null,
      trace: null,
    });
  });

  it('takes every variable', () => {
    const env = {
      SIGNALBOX_CELLS: 'eu=postgres://a/b us-1=postgresql://c/d',
      SIGNALBOX_ADDRESS: '0.0.0.0',
      SIGNALBOX_PORT: '0',
      PORT: '9000',
      SIGNALBOX_PUBLIC_URL: 'https://queue.example.com/',
      SIGNALBOX_SANDBOX: 'off',
      SIGNALBOX_COMMITTER: 'Queue Bot <queue@example.com>',
      SIGNALBOX_SANDBOX_SCRIPTS: 'on',
      SIGNALBOX_DATA_DIR: '/var/lib/signalbox',
      SIGNALBOX_MIRROR_MAX_MIB: '2048',
      SIGNALBOX_PARTIAL_CLONE: 'off',
      SIGNALBOX_ALIVE_FILE: '/run/signalbox/alive',
      SIGNALBOX_SWEEP_SECONDS: '17',
      SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      SIGNALBOX_SECRET_KEY_PREVIOUS: [5, 6].map((n) => Buffer.alloc(32, n).toString('base64')).join(', '),
      SIGNALBOX_COMMAND_WORDS: 'Queue, sb',
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
      SIGNALBOX_BOOTSTRAP_TOKEN: 'a-token-of-sixteen',
      SIGNALBOX_LOG_LEVEL: 'debug',
      SIGNALBOX_RATE_LIMIT: '7',
      SIGNALBOX_RATE_BURST: '8',
      SIGNALBOX_METRICS_RATE_LIMIT: '9',
      SIGNALBOX_DB_CONNECTIONS: '11',
      SIGNALBOX_DB_READERS: '12',
      SIGNALBOX_WORKER_CONCURRENCY: '13',
      SIGNALBOX_DRAIN_SECONDS: '16',
      SIGNALBOX_SHUTDOWN_SECONDS: '14',
      SIGNALBOX_HISTORY_MONTHS: '15',
      SIGNALBOX_RECORD_MONTHS: '36',
      SIGNALBOX_TARGET_DAYS: '30',
      SIGNALBOX_TICKET_URL: 'https://tracker.example.com/browse/{id}',
      SIGNALBOX_GIT_HOSTS: 'https://git.example/ http://127.0.0.1:3000,https://git.example',
      SIGNALBOX_WEBHOOK_ALLOW: '10.1.0.0/16, CI.internal fd00::1',
      SIGNALBOX_WEBHOOK_TIMEOUT_SECONDS: '15',
      SIGNALBOX_UPLOAD_MAX_MIB: '18',
      SIGNALBOX_UPLOAD_MINUTES: '19',
      SIGNALBOX_UPLOAD_TOKEN_UPLOADS: '7',
      SIGNALBOX_UPLOAD_TOKEN_MIB: '3',
      SIGNALBOX_BLOB_URL: 's3://uploads/ci?endpoint=https://s3.example.com&region=eu-1',
      SIGNALBOX_BLOB_ACCESS_KEY_ID: 'key',
      SIGNALBOX_BLOB_SECRET_ACCESS_KEY: 'secret',
      SIGNALBOX_OIDC_ISSUER: 'https://id.example.com',
      SIGNALBOX_OIDC_CLIENT_ID: 'signalbox',
      SIGNALBOX_OIDC_CLIENT_SECRET: 'not-a-secret',
      SIGNALBOX_OIDC_ORGANIZATION: 'acme',
      SIGNALBOX_OIDC_SCOPES: 'openid groups',
      SIGNALBOX_OIDC_ROLE_CLAIM: 'roles',
      SIGNALBOX_OIDC_ADMINS: 'leads',
      SIGNALBOX_OIDC_SUBMITTERS: 'engineers,writers',
      SIGNALBOX_OIDC_VIEWERS: '*',
      SIGNALBOX_OIDC_LABEL: 'Sign in with Example',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector.example:4318/traces',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_SERVICE_NAME: 'queue',
      OTEL_RESOURCE_ATTRIBUTES: 'region=eu',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_SDK_DISABLED: 'false',
    };
    expect([...Object.keys(env), 'DATABASE_URL'].toSorted()).toEqual(Object.keys(variables).toSorted());
    expect(configOf(env)).toEqual({
      cells: [
        { name: 'eu', url: 'postgres://a/b' },
        { name: 'us-1', url: 'postgresql://c/d' },
      ],
      address: '0.0.0.0',
      port: 0,
      publicUrl: 'https://queue.example.com',
      isPublicUrlGiven: true,
      sandbox: 'off',
      committer: { name: 'Queue Bot', email: 'queue@example.com' },
      sandboxScripts: true,
      dataDir: '/var/lib/signalbox',
      mirrorBytesMax: 2_147_483_648,
      isPartialClone: false,
      aliveFile: '/run/signalbox/alive',
      sweepMs: 17_000,
      secretKey: [7, 5, 6].map((n) => Buffer.alloc(32, n)),
      gitHosts: ['https://git.example', 'http://127.0.0.1:3000'],
      commandNames: ['queue', 'sb'],
      bootstrap: { organization: 'acme', token: 'a-token-of-sixteen' },
      logLevel: 'debug',
      rateLimit: { perSecond: 7, burst: 8, metricsPerSecond: 9 },
      connections: 11,
      readerConnections: 12,
      workerConcurrency: 13,
      drainMs: 16_000,
      shutdownMs: 14_000,
      historyMonths: 15,
      recordMonths: 36,
      targetDays: 30,
      ticketUrl: 'https://tracker.example.com/browse/{id}',
      webhook: {
        allow: { networks: ['10.1.0.0/16', 'fd00::1/128'], hosts: ['ci.internal'] },
        timeoutMs: 15_000,
      },
      upload: {
        bytesMax: 18 * 1_048_576,
        addressMs: 1_140_000,
        quota: { uploads: 7, bytes: 3 * 1_048_576 },
      },
      blob: {
        bucket: 'uploads',
        prefix: 'ci',
        endpoint: 'https://s3.example.com',
        region: 'eu-1',
        forcePathStyle: true,
        credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      },
      oidc: {
        issuer: 'https://id.example.com',
        clientId: 'signalbox',
        clientSecret: 'not-a-secret',
        organization: 'acme',
        scopes: 'openid groups',
        roles: {
          claim: 'roles',
          values: { admin: ['leads'], submitter: ['engineers', 'writers'], viewer: ['*'] },
        },
        label: 'Sign in with Example',
      },
      trace: {
        url: 'http://collector.example:4318/traces',
        headers: { 'x-tenant': 'acme' },
        serviceName: 'queue',
        attributes: { region: 'eu' },
        sampler: 'parentbased_traceidratio',
        ratio: 0.5,
      },
    });
  });

  it('requires both keys of a store or none, and a URL for them', () => {
    const key = { SIGNALBOX_BLOB_ACCESS_KEY_ID: 'key' };
    const secret = { SIGNALBOX_BLOB_SECRET_ACCESS_KEY: 'not-to-be-shown' };
    const both = 'SIGNALBOX_BLOB_ACCESS_KEY_ID and SIGNALBOX_BLOB_SECRET_ACCESS_KEY: set both or neither';
    const url = { SIGNALBOX_BLOB_URL: 's3://uploads' };
    expect(problemsOf({ ...database, ...url, ...key })).toEqual([both]);
    expect(problemsOf({ ...database, ...url, ...secret })).toEqual([both]);
    expect(problemsOf({ ...database, ...key, ...secret })).toEqual([
      'SIGNALBOX_BLOB_URL: set it, or remove SIGNALBOX_BLOB_ACCESS_KEY_ID and SIGNALBOX_BLOB_SECRET_ACCESS_KEY',
    ]);
    expect(configOf({ ...database, ...url }).blob).toMatchObject({ bucket: 'uploads', credentials: null });
    expect(problemsOf({ ...database, SIGNALBOX_BLOB_URL: 's3://a:b@uploads' })).toEqual([
      expect.stringContaining('SIGNALBOX_BLOB_URL: must not contain keys'),
    ]);
  });

  it('makes the public address from the port when it is not given', () => {
    expect(configOf({ ...database, SIGNALBOX_PORT: '9000' }).publicUrl).toBe('http://localhost:9000');
    expect(configOf({ ...database, PORT: '9001' }).publicUrl).toBe('http://localhost:9001');
    expect(configOf({ ...database, SIGNALBOX_PORT: '9000', PORT: '9001' }).port).toBe(9000);
  });

  it('reports all problems at once, each with its variable', () => {
    const problems = problemsOf({
      DATABASE_URL: 'mysql://nope',
      SIGNALBOX_PORT: '70000',
      SIGNALBOX_LOG_LEVEL: 'loud',
      SIGNALBOX_RATE_LIMIT: 'many',
      SIGNALBOX_TYPO: 'x',
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
    });
    expect(problems).toEqual([
      expect.stringMatching(/^DATABASE_URL: must be a URL like postgresql:/),
      'SIGNALBOX_PORT: must be at most 65535',
      expect.stringMatching(/^SIGNALBOX_LOG_LEVEL: /),
      'SIGNALBOX_RATE_LIMIT: must be a whole number',
      expect.stringMatching(/^SIGNALBOX_TYPO: is not a variable/),
      expect.stringMatching(/^SIGNALBOX_BOOTSTRAP_ORG and SIGNALBOX_BOOTSTRAP_TOKEN: set both or neither/),
    ]);
  });

  it('is not concerned with the variables of others', () => {
    expect(problemsOf({ ...database, PATH: '/bin', NODE_ENV: 'test', signalbox_port: 'x' })).toEqual([]);
  });

  it.each([
    ['PORT', 'http'],
    ['SIGNALBOX_PORT', '65536'],
    ['SIGNALBOX_PORT', '-1'],
    ['SIGNALBOX_PORT', '80.5'],
    ['SIGNALBOX_PORT', ' 80'],
    ['SIGNALBOX_PUBLIC_URL', 'queue.example.com'],
    ['SIGNALBOX_PUBLIC_URL', 'ftp://queue.example.com'],
    ['SIGNALBOX_SANDBOX', 'yes'],
    ['SIGNALBOX_COMMITTER', 'queue@example.com'],
    ['SIGNALBOX_GIT_HOSTS', 'git.example'],
    ['SIGNALBOX_GIT_HOSTS', 'ssh://git.example'],
    ['SIGNALBOX_GIT_HOSTS', 'https://token@git.example'],
    ['SIGNALBOX_RATE_LIMIT', '0'],
    ['SIGNALBOX_RATE_BURST', '0'],
    ['SIGNALBOX_METRICS_RATE_LIMIT', '0'],
    ['SIGNALBOX_DB_CONNECTIONS', '1'],
    ['SIGNALBOX_DB_READERS', '0'],
    ['SIGNALBOX_WORKER_CONCURRENCY', '0'],
    ['SIGNALBOX_DRAIN_SECONDS', '601'],
    ['SIGNALBOX_SHUTDOWN_SECONDS', '0'],
    ['SIGNALBOX_SHUTDOWN_SECONDS', '601'],
    ['SIGNALBOX_HISTORY_MONTHS', '0'],
    ['SIGNALBOX_RECORD_MONTHS', '0'],
    ['SIGNALBOX_TARGET_DAYS', 'ever'],
    ['SIGNALBOX_TICKET_URL', 'https://tracker.example.com/'],
    ['SIGNALBOX_TICKET_URL', 'javascript:{id}'],
  ])('refuses %s=%s by its name', (name, value) => {
    expect(problemsOf({ ...database, [name]: value })).toEqual([expect.stringMatching(`^${name}: `)]);
  });

  it('refuses previous keys that are not whole, or without the one that replaced them', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    expect(
      problemsOf({ ...database, SIGNALBOX_SECRET_KEY: key, SIGNALBOX_SECRET_KEY_PREVIOUS: `${key},short` }),
    ).toEqual([expect.stringMatching(/^SIGNALBOX_SECRET_KEY_PREVIOUS: /)]);
    expect(problemsOf({ ...database, SIGNALBOX_SECRET_KEY_PREVIOUS: key })).toEqual([
      expect.stringMatching(/^SIGNALBOX_SECRET_KEY: /),
    ]);
  });
});

describe('the databases', () => {
  it('must be named, one way', () => {
    expect(problemsOf({})).toEqual([expect.stringMatching(/^DATABASE_URL: .*or set SIGNALBOX_CELLS$/)]);
    const both = { ...database, SIGNALBOX_CELLS: 'eu=postgres://a/b' };
    expect(problemsOf(both)).toEqual([expect.stringMatching(/^SIGNALBOX_CELLS: .*not both$/)]);
  });

  it('may stand on several lines', () => {
    const { cells } = configOf({ SIGNALBOX_CELLS: '\n  eu=postgres://a/b\n\tus=postgres://c/d?x=y\n' });
    expect(cells).toEqual([
      { name: 'eu', url: 'postgres://a/b' },
      { name: 'us', url: 'postgres://c/d?x=y' },
    ]);
  });

  it.each([
    ['postgres://a/b'],
    ['=postgres://a/b'],
    ['Eu=postgres://a/b'],
    ['1eu=postgres://a/b'],
    ['eu_1=postgres://a/b'],
    [`${'a'.repeat(33)}=postgres://a/b`],
    ['eu='],
    ['eu=mysql://a/b'],
    ['eu=postgres://'],
  ])('are refused as %s', (cells) => {
    expect(problemsOf({ SIGNALBOX_CELLS: cells })).toContainEqual(
      expect.stringMatching(/^SIGNALBOX_CELLS: must be items name=postgresql:/),
    );
  });

  it('have different names', () => {
    expect(problemsOf({ SIGNALBOX_CELLS: 'eu=postgres://a/b eu=postgres://c/d' })).toEqual([
      'SIGNALBOX_CELLS: names the cell eu twice',
    ]);
  });

  it('are not nothing but blanks', () => {
    expect(problemsOf({ SIGNALBOX_CELLS: '  ' })).toEqual([
      expect.stringMatching(/^(DATABASE_URL|SIGNALBOX_CELLS): /),
    ]);
  });
});

describe('the bootstrap', () => {
  it('is both or neither', () => {
    const org = { SIGNALBOX_BOOTSTRAP_ORG: 'acme' };
    const token = { SIGNALBOX_BOOTSTRAP_TOKEN: 'a-token-of-sixteen' };
    expect(problemsOf({ ...database, ...org })).toHaveLength(1);
    expect(problemsOf({ ...database, ...token })).toHaveLength(1);
    expect(problemsOf({ ...database, ...org, ...token })).toEqual([]);
  });

  it.each([
    ['Acme', 'a-token-of-sixteen', 'SIGNALBOX_BOOTSTRAP_ORG'],
    ['-acme', 'a-token-of-sixteen', 'SIGNALBOX_BOOTSTRAP_ORG'],
    ['a'.repeat(64), 'a-token-of-sixteen', 'SIGNALBOX_BOOTSTRAP_ORG'],
    ['acme', 'fifteen-letters', 'SIGNALBOX_BOOTSTRAP_TOKEN'],
    ['acme', 'a'.repeat(513), 'SIGNALBOX_BOOTSTRAP_TOKEN'],
  ])('with the organization %s and the token %s is refused', (org, token, name) => {
    const env = { ...database, SIGNALBOX_BOOTSTRAP_ORG: org, SIGNALBOX_BOOTSTRAP_TOKEN: token };
    expect(problemsOf(env)).toEqual([expect.stringMatching(`^${name}: `)]);
  });
});

describe('a bootstrap token of the service’s own form', () => {
  const withToken = (token: string) => ({
    SIGNALBOX_CELLS: 'eu=postgres://a/b us=postgres://c/d',
    SIGNALBOX_BOOTSTRAP_ORG: 'acme',
    SIGNALBOX_BOOTSTRAP_TOKEN: token,
  });

  it('must name a cell that there is', () => {
    expect(problemsOf(withToken('sbx_eu_0123456789'))).toEqual([]);
    expect(problemsOf(withToken('sbx_us_0123456789'))).toEqual([]);
    expect(problemsOf(withToken('sbx_asia_0123456789'))).toEqual([
      expect.stringMatching(/^SIGNALBOX_BOOTSTRAP_TOKEN: .*sbx_eu_/),
    ]);
    expect(problemsOf(withToken('my_sbx_asia_0123456789'))).toEqual([]);
  });
});

describe('a variable that is set but empty', () => {
  it('has its default', () => {
    const empty = Object.keys(variables).filter((name) => !/DATABASE_URL|CELLS|BOOTSTRAP/.test(name));
    const env = { ...database, ...Object.fromEntries(empty.map((name) => [name, ''])) };
    expect(configOf(env)).toEqual(configOf(database));
  });

  it('is no database', () => {
    expect(problemsOf({ DATABASE_URL: '' })).toEqual([expect.stringMatching(/^DATABASE_URL: set it/)]);
  });

  it('is no second way to name the databases', () => {
    expect(problemsOf({ ...database, SIGNALBOX_CELLS: '' })).toEqual([]);
    expect(problemsOf({ DATABASE_URL: '', SIGNALBOX_CELLS: 'eu=postgres://a/b' })).toEqual([]);
  });

  it('is no half of a bootstrap', () => {
    expect(problemsOf({ ...database, SIGNALBOX_BOOTSTRAP_ORG: '' })).toEqual([]);
  });

  it('does not complete a bootstrap', () => {
    const env = { ...database, SIGNALBOX_BOOTSTRAP_ORG: 'acme', SIGNALBOX_BOOTSTRAP_TOKEN: '' };
    expect(problemsOf(env)).toEqual([expect.stringMatching(/set both or neither/)]);
  });

  it('is not an unknown one', () => {
    expect(problemsOf({ ...database, SIGNALBOX_TYPO: '' })).toEqual([]);
  });
});
