import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';
import { post, runMain, startProcess } from '../support/server-process.ts';

// Some of its bounds are times, which a busy machine misses now and then.
it(
  'a started server passes the conformance suite, with nothing of it skipped',
  { retry: 1, timeout: 600_000 },
  async () => {
    const database = await createDatabase();
    const url = databaseUrl(database);
    const admin = async (...args: string[]) => (await runMain(url, ['admin', ...args])).stdout.trim();
    for (const slug of ['acme', 'globex']) await admin('create-organization', slug);
    const tokens: Record<string, string> = {
      '--token': await admin('create-token', 'acme'),
      '--other-token': await admin('create-token', 'globex'),
    };
    for (const scope of ['read', 'submit'])
      tokens[`--${scope}-token`] = await admin('create-token', 'acme', '--scopes', scope);
    // Fewer per second than a busy machine answers, so that the suite comes to the limit there too.
    const server = await startProcess('start', url, { SIGNALBOX_RATE_LIMIT: '30' });
    const repo = { host: 'sandbox.example', owner: 'conformance', name: 'bound' };
    const queue = JSON.stringify({ repo, targetBranch: 'main' });
    expect((await post(server.url, '/v1/createQueue', tokens['--token']!, queue)).status).toBe(200);
    const bound = ['--repositories', 'sandbox.example/conformance/bound'];
    tokens['--upload-token'] = await admin('create-token', 'acme', '--scopes', 'upload', ...bound);
    const args = [
      'test/conformance/main.ts',
      '--json',
      '--base-url',
      server.url,
      ...Object.entries(tokens).flat(),
    ];
    const report = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, { maxBuffer: 16 * 1_048_576 }, (_error, stdout) => resolve(stdout));
    });
    await server.stop();
    await dropDatabase(database);

    type Report = { passed: number; failed: number; skipped: number; failures: unknown[]; skips: unknown[] };
    const { passed, failures, skips } = JSON.parse(report) as Report;
    expect(failures).toEqual([]);
    expect(skips).toEqual([]);
    expect(passed).toBeGreaterThan(1_600);
  },
);
