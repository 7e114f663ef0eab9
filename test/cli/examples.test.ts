// Every example of the command line is run, as typed, against a real service with the sandbox host. A command without one
// fails here, and so does an example that no longer works.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCommandExamples } from '#cli/command.ts';
import { createProgram, everyCommand, type ProgramContext, runProgram } from '#program.ts';
import { captureOutput } from '../support/captured-output.ts';
import { compileCache } from '../support/compile-cache.ts';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';
import { post, runMain, type ServerProcess, startProcess } from '../support/server-process.ts';
import { type Receiver, startReceiver } from '../webhook/receiver.ts';

const token = 'fake-token-for-tests-0123';
const entry = new URL('../../src/signalbox.ts', import.meta.url).pathname;
const secretKey = Buffer.alloc(32, 7).toString('base64');
const repo = { host: 'sandbox.example', owner: 'acme', name: 'widgets' };

const nothing = () => Promise.resolve(0);
const contextOf = (given: Partial<ProgramContext> = {}): ProgramContext => ({
  cwd: '/',
  env: {},
  version: '0',
  args: [],
  service: nothing,
  demo: nothing,
  ...given,
});

const pathOf = (command: Command): string =>
  command.parent?.parent == null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const leaves = everyCommand(createProgram(contextOf(), { code: 0 })).filter(
  ({ commands }) => commands.length === 0,
);
type Example = readonly [line: string, path: string];
const examples = leaves.flatMap((command) =>
  listCommandExamples(command).map(({ line }): Example => [line, pathOf(command)]),
);

/** By the first word, where they are run instead: they go on, take long or need what is not here. Here they are only understood. */
const runElsewhere: Readonly<Record<string, string>> = {
  connect: 'test/cli/connect.test.ts',
  demo: 'npm run e2e:demo',
  mcp: 'test/cli/mcp.test.ts',
  simulate: 'npm run e2e:simulate',
  start: 'test/service/process.test.ts',
  serve: 'test/service/process.test.ts',
  work: 'test/service/process.test.ts',
};

/** No host is connected here, and the doctor says so. */
const exitCodes: Readonly<Record<string, number>> = { doctor: 1 };

/** The words of a line without anything that only a shell understands; null: it needs one. */
function wordsOf(line: string): readonly string[] | null {
  if (!line.startsWith('signalbox ') || /[|<>$&;]/.test(line.replaceAll(/'[^']*'/g, ''))) return null;
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!).slice(1);
}

/** Commands that are handed to the service, and those that read standard input, are processes of their own. */
const isProcess = (path: string): boolean => /^(admin|doctor|migrate|login|test)\b/.test(path);

describe('the examples', () => {
  let database: string;
  let server: ServerProcess;
  let receiver: Receiver;
  let home: string;
  let cwd: string;
  let tokenId: string;
  beforeAll(async () => {
    database = await createDatabase();
    receiver = await startReceiver();
    server = await startProcess('start', databaseUrl(database), {
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
      SIGNALBOX_BOOTSTRAP_TOKEN: token,
      SIGNALBOX_SECRET_KEY: secretKey,
      SIGNALBOX_WEBHOOK_ALLOW: '127.0.0.1/32',
    });
    home = mkdtempSync(join(tmpdir(), 'signalbox-examples-'));
    cwd = join(home, 'widgets');
    mkdirSync(join(cwd, 'out'), { recursive: true });
    const report = '<testsuite name="a"><testcase name="adds" classname="cart"/></testsuite>';
    writeFileSync(join(cwd, 'out/junit.xml'), report);
    writeFileSync(join(cwd, 'junit.xml'), report);
    writeFileSync(join(cwd, 'targets.txt'), 'cart\nweb\n');
    mkdirSync(join(cwd, 'tests'));
    for (const name of ['cart', 'mail', 'shop']) writeFileSync(join(cwd, `tests/test_${name}.py`), '');
    writeFileSync(join(cwd, 'token'), 'fake-token-of-a-host');
    copyFileSync('examples/import/bors.toml', join(cwd, 'bors.toml'));
    copyFileSync('examples/import/mergify.yml', join(cwd, '.mergify.yml'));
    copyFileSync('examples/import/github-ruleset.json', join(cwd, 'ruleset.json'));
    const scripts = { test: 'cp out/junit.xml junit.xml && touch out/junit.xml' };
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts }));
    const git = (...args: string[]) => execFileSync('git', args, { cwd });
    git('init', '-q', '-b', 'fix-widget');
    git('remote', 'add', 'origin', 'https://sandbox.example/acme/widgets.git');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '--allow-empty', '-m', 'one');
    await call('createQueue', { repo, targetBranch: 'main', concurrency: 9 });
    // The repository that a token is bound to.
    await call('createQueue', { repo: { ...repo, host: 'github.com' }, targetBranch: 'main' });
    await setCi(50);
    const testCases = [
      { name: 'removes an item', file: 'cart.test.ts', status: 'flaky' },
      { name: 'deletes an item', file: 'cart.test.ts', status: 'healthy' },
    ];
    await call('putTestCases', { repo, testCases }, '/sandbox');
    const listed = await runMain(databaseUrl(database), ['admin', 'create-token', 'acme', '--name', 'old']);
    tokenId = listed.stdout.trim().split('_')[2]!;
  });
  afterAll(async () => {
    await server.stop();
    await receiver.close();
    await dropDatabase(database);
    rmSync(home, { recursive: true });
  });

  const call = async (name: string, body: unknown, prefix = '') => {
    const answer = await post(server.url, `${prefix}/v1/${name}`, token, JSON.stringify(body));
    if (answer.status !== 200) throw new Error(await answer.text());
  };
  const setCi = (durationMs: number) => call('configureRepository', { repo, ci: { durationMs } }, '/sandbox');

  /** The endpoint that the examples are about; one that an example deleted is there again. */
  const makeEndpoint = async () => {
    const answer = await post(server.url, '/v1/listWebhookEndpoints', token, '{}');
    const { endpoints } = (await answer.json()) as { endpoints: readonly { name: string }[] };
    if (!endpoints.some(({ name }) => name === 'Deploys'))
      await call('createWebhookEndpoint', { name: 'Deploys', url: receiver.url });
  };

  /** What must be so before an example. */
  const prepare: Readonly<Record<string, () => Promise<unknown>>> = {
    'webhook update': makeEndpoint,
    'webhook delete': makeEndpoint,
    'webhook rotate': makeEndpoint,
    'webhook test': makeEndpoint,
    'webhook deliveries': makeEndpoint,
    'webhook replay': makeEndpoint,
    cancel: async () => {
      await setCi(600_000);
      await call('submitPullRequest', { repo, targetBranch: 'main', pr: { number: 9 } });
    },
    restart: async () => {
      const pr = { number: 10 };
      await call('submitPullRequest', { repo, targetBranch: 'main', pr });
      const read = () =>
        post(
          server.url,
          '/v1/getSubmittedPullRequest',
          token,
          JSON.stringify({ repo, targetBranch: 'main', pr }),
        );
      await expect
        .poll(async () => ((await (await read()).json()) as { state: string }).state, { timeout: 20_000 })
        .toBe('testing');
    },
  };

  /** As typed, but for what is made anew on every run. */
  const asTyped = (line: string) =>
    line
      .replaceAll('http://localhost:8080', server.url)
      .replaceAll('https://hooks.example/signalbox', receiver.url)
      .replaceAll('0123456789', tokenId);

  const environment = () => ({
    PATH: `${home}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    ...compileCache,
    SIGNALBOX_URL: server.url,
    SIGNALBOX_API_TOKEN: token,
    SIGNALBOX_SECRET_KEY: secretKey,
    DATABASE_URL: databaseUrl(database),
  });

  const inShell = (line: string) => {
    const shell = `signalbox() { '${process.execPath}' '${entry}' "$@"; }\nset -o pipefail\n${line}`;
    const run = spawnSync('bash', ['-c', shell], { cwd, env: environment(), encoding: 'utf8', input: token });
    return { code: run.status, output: run.stdout + run.stderr };
  };

  const inProcess = async (args: readonly string[]) => {
    const run = () => runProgram(contextOf({ cwd, env: environment(), args }));
    const { result: code, output } = await captureOutput(run);
    return { code, output };
  };

  it('are there for every command', () => {
    const bare = leaves.filter((command) => listCommandExamples(command).length === 0).map(pathOf);
    expect(bare).toEqual([]);
  });

  const isElsewhere = ([, path]: Example) => (path.split(' ')[0] ?? '') in runElsewhere;

  it.each(examples.filter((example) => !isElsewhere(example)))('%s', async (typed, path) => {
    const line = asTyped(typed);
    const words = wordsOf(line);
    await prepare[path]?.();
    const { code, output } = words === null || isProcess(path) ? inShell(line) : await inProcess(words);
    // With the output, so that a failure tells why.
    expect({ code, output }).toEqual({ code: exitCodes[path] ?? 0, output });
    expect(output).not.toContain(token);
  });

  it.each(examples.filter(isElsewhere))('%s is understood', async (line, path) => {
    let ran = '';
    const program = createProgram(contextOf(), { code: 0 });
    for (const command of everyCommand(program)) command.action(() => void (ran = pathOf(command)));
    await program.parseAsync([...(wordsOf(line) ?? [])], { from: 'user' });
    expect(ran).toBe(path);
  });
});
