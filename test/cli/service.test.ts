// The command line against the real processes: what a job of CI sends, and what the service makes of it.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileCache } from '../support/compile-cache.ts';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';
import { post, runMain, type ServerProcess, startProcess } from '../support/server-process.ts';

const token = 'fake-token-for-tests-0123';
const entry = new URL('../../src/signalbox.ts', import.meta.url).pathname;
const head = 'a'.repeat(40);
const repo = { host: 'sandbox.example', owner: 'acme', name: 'widgets' };

const suite = (name: string, ...cases: readonly string[]) =>
  `<testsuites><testsuite name="${name}">${cases.join('')}</testsuite></testsuites>`;
const passed = (name: string) => `<testcase name="${name}" classname="cart" file="src/cart.test.ts"/>`;
const failed = (name: string, message: string) =>
  `<testcase name="${name}" classname="cart" file="src/cart.test.ts"><failure message="${message}">at x</failure></testcase>`;

describe('a job of CI', () => {
  let database: string;
  let server: ServerProcess;
  let cwd: string;
  beforeAll(async () => {
    database = await createDatabase();
    server = await startProcess('start', databaseUrl(database), {
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
      SIGNALBOX_BOOTSTRAP_TOKEN: token,
    });
  });
  afterAll(async () => {
    await server.stop();
    await dropDatabase(database);
  });
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'signalbox-job-'));
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  const put = (path: string, content: string) => writeFileSync(join(cwd, path), content);

  /** On a pull request of GitHub Actions, as far as its variables go. */
  const upload = async (given: Readonly<Record<string, string>> = {}, ...args: readonly string[]) => {
    put(
      'event.json',
      JSON.stringify({ pull_request: { number: 7, head: { sha: head, ref: 'fix-widget' } } }),
    );
    const env = {
      PATH: process.env['PATH'],
      ...compileCache,
      SIGNALBOX_URL: server.url,
      SIGNALBOX_API_TOKEN: token,
      GITHUB_ACTIONS: 'true',
      GITHUB_SERVER_URL: 'https://sandbox.example',
      GITHUB_REPOSITORY: 'acme/widgets',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: join(cwd, 'event.json'),
      GITHUB_HEAD_REF: 'fix-widget',
      GITHUB_SHA: 'b'.repeat(40),
      GITHUB_WORKFLOW: 'CI',
      GITHUB_JOB: 'unit',
      GITHUB_RUN_ID: '9001',
      ...given,
    };
    const { stdout } = await promisify(execFile)(process.execPath, [entry, 'upload', '--json', ...args], {
      cwd,
      env,
    });
    return (JSON.parse(stdout) as { upload: Record<string, unknown> }).upload;
  };

  const ofPull = {
    state: 'ingested',
    sha: head,
    branch: 'fix-widget',
    pr: 7,
    job: 'CI / unit',
    url: 'https://sandbox.example/acme/widgets/actions/runs/9001',
    is_complete: true,
    trust: 'full',
  };

  it('sends one report by the simple door', async () => {
    put('junit.xml', suite('one', passed('adds'), failed('removes', 'no')));
    const shown = await upload();
    expect(shown).toMatchObject({ ...ofPull, tests: 2, passed: 1, failed: 1, problems: [] });
    expect(shown['failures']).toMatchObject([
      { name: 'removes', file: 'src/cart.test.ts', verdict: 'unknown', is_excused: false },
    ]);
  });

  it('sends several reports as one run of one job, with who owns what', async () => {
    put('junit-1.xml', suite('many', passed('a'), passed('b')));
    put('junit-2.xml', suite('many', passed('c'), failed('d', 'no')));
    put('CODEOWNERS', 'src/ @acme/core\n');
    const shown = await upload({}, '--variant', 'linux', '--job', 'mine');
    expect(shown).toMatchObject({ ...ofPull, job: 'mine', variant: 'linux', tests: 4, passed: 3, failed: 1 });
    const [failure] = shown['failures'] as readonly { test_case_id: string }[];
    const asked = { repo, org_url_slug: 'acme', test_id: failure?.test_case_id };
    const details = await post(server.url, '/v1/flaky-tests/get-test-details', token, JSON.stringify(asked));
    expect(await details.text()).toContain('@acme/core');
  });

  it('may have a token that can only upload: then nothing is classified by it', async () => {
    const url = databaseUrl(database);
    const made = await runMain(url, [
      'admin',
      'create-token',
      'acme',
      '--scopes',
      'upload',
      '--repositories',
      'sandbox.example/acme/widgets',
    ]);
    put('junit.xml', suite('fork', passed('x'), failed('y', 'no')));
    const shown = await upload({ SIGNALBOX_API_TOKEN: made.stdout.trim() });
    expect(shown).toMatchObject({ trust: 'untrusted', state: 'ingested', failed: 1 });
  });

  it('is told of a report that is cut off', async () => {
    put('junit.xml', suite('cut', passed('a'), passed('b')).slice(0, -30));
    expect(await upload()).toMatchObject({ is_complete: false, problems: [{ code: 'TRUNCATED' }] });
  });

  it('is set up as the guide says, and needs no more than curl', async () => {
    const [, section = ''] = readFileSync('docs/tutorial/flaky-tests.md', 'utf8').split('## In CI');
    const commands = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text]) => text);
    expect(commands).toHaveLength(2);
    put('junit.xml', suite('curl', passed('a'), failed('b', 'no')));
    const script = `signalbox() { '${process.execPath}' '${entry}' "$@"; }\n${commands.join('\n')}`;
    const env = {
      PATH: process.env['PATH'],
      ...compileCache,
      DATABASE_URL: databaseUrl(database),
      SIGNALBOX_URL: server.url,
      SIGNALBOX_API_TOKEN: token,
      SHA: head,
      BRANCH: 'main',
    };
    const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script], { cwd, env });
    expect(stdout).toMatch(/^sbx_main_/);
    expect(stdout).toMatch(/"accepted":2,"rejected":\[\]/);
  });
});
