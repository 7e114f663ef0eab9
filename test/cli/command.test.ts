// The real process, against a stand-in for the service that answers as it is told; guide.test.ts has the
// service itself.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { classified, failure, openStandIn, place, report, type StandIn, uuid } from './ci-stand-in.ts';

describe('signalbox test', () => {
  let standIn: StandIn;

  beforeEach(async () => {
    standIn = await openStandIn();
  });

  afterEach(() => standIn.close());

  const start = (args: readonly string[], file?: string) => standIn.start(args, file);
  const finish = (child: ReturnType<typeof start>) => standIn.finish(child);

  const run = (script: string, ...options: readonly string[]) =>
    finish(start(['test', ...place, ...options, '--', 'sh', '-c', script]));

  const failing = 'echo "$PAYLOAD" > junit.xml; echo from the tests; exit 1';

  it('ends with 0 when only a quarantined test failed, and says so', async () => {
    const { code, stdout, stderr } = await run(failing);
    expect(code).toBe(0);
    expect(stdout).toBe('from the tests\n');
    expect(stderr).toContain('Signalbox: 2 tests in 1 report: 1 passed, 1 failed.');
    expect(stderr).toContain('FLAKY    cart › removes (quarantined)');
    expect(stderr).toContain('the exit code is now 0: 1 failed test, known to be flaky and quarantined');
    expect(stderr).not.toContain('secret-token');
    const upload = standIn.requests.find(({ path }) => path === '/v1/flaky-tests/upload');
    expect(Object.fromEntries(upload?.query ?? [])).toMatchObject({
      repo: 'git.example/acme/widgets',
      org_url_slug: 'acme',
      branch: 'main',
      job: 'unit',
      pr: '',
    });
    expect(zstdDecompressSync(upload?.body ?? Buffer.alloc(0)).toString()).toBe(`${report}\n`);
  });

  it('does not hand its token to the tested command', async () => {
    const { stdout } = await run('echo "token: $SIGNALBOX_API_TOKEN"; echo "url: $SIGNALBOX_URL"');
    expect(stdout).toBe(`token: \nurl: ${standIn.url}\n`);
  });

  it('does the same as one file, without the rest of Signalbox', async () => {
    const file = join(standIn.cwd, 'signalbox.mjs');
    execFileSync(process.execPath, ['script/build-cli.ts', file]);
    const { code, stderr } = await finish(start(['test', ...place, '--', 'sh', '-c', failing], file));
    expect(code).toBe(0);
    expect(stderr).toContain('the exit code is now 0');
    expect((await finish(start(['start'], file))).code).toBe(2);
  });

  it('tells two runs apart that write the same report', async () => {
    await run(failing);
    await run(failing);
    const ids = standIn.requests.map(({ query }) => query.get('run_id')).filter((id) => id !== null);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
  });

  it('keeps the exit code when the failed test is not quarantined', async () => {
    standIn.answers.upload = {
      ...classified,
      failures: [{ ...failure, verdict: 'new', quarantined: false }],
    };
    const { code, stderr } = await run(failing);
    expect(code).toBe(1);
    expect(stderr).toContain('NEW      cart › removes');
    expect(stderr).toContain('the exit code stays 1: 1 of 1 failed test is not quarantined.');
  });

  it('shows a failed test in the summary of a job on GitHub, and nothing in its texts is a command or markup', async () => {
    const name = '::error::x | `<b>` @ada';
    const hostile = report
      .replaceAll('name="removes"', `name="${name.replace('<', '&lt;')}" file="cart.test.ts"`)
      .replace('at x', 'at cart.test.ts:7:1&#10;::warning::y');
    standIn.answers.upload = {
      ...classified,
      failures: [
        { ...failure, name, file: 'cart.test.ts', verdict: 'new', quarantined: false, is_excused: false },
      ],
    };
    const summary = join(standIn.cwd, 'summary.md');
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary, PAYLOAD: hostile };
    const { code, stderr } = await finish(
      standIn.start(['test', ...place, '--', 'sh', '-c', failing], undefined, env),
    );
    expect(code).toBe(1);
    expect(stderr.match(/^::.*$/gm)).toEqual([
      '::error file=cart.test.ts,line=7,title=cart.test.ts › cart › %3A%3Aerror%3A%3Ax | `<b>` @ada::It passed before and never failed like this. Check your change first.%0Ano',
    ]);
    const text = readFileSync(summary, 'utf8');
    expect(text).toContain('### 1 test failed: 1 new failure\n');
    expect(text).toContain('the exit code stays 1: 1 of 1 failed test is not quarantined.');
    expect(text).toContain(
      '- **NEW** `cart.test.ts › cart › ::error::x | <b> @ada` (`cart.test.ts:7`): It passed',
    );
  });

  it('shows nothing beside the log of a job that passed', async () => {
    standIn.answers.upload = { ...classified, passed: 2, failed: 0, failures: [] };
    const summary = join(standIn.cwd, 'summary.md');
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary, GITLAB_CI: 'true' };
    const green = 'echo "<testsuite><testcase name=\'adds\'/></testsuite>" > junit.xml';
    const options = ['--gitlab-annotations', 'links.json'];
    const { code, stderr } = await finish(
      standIn.start(['test', ...place, ...options, '--', 'sh', '-c', green], undefined, env),
    );
    expect(code).toBe(0);
    expect(stderr).toBe('Signalbox: 2 tests in 1 report: 2 passed.\n');
    expect(existsSync(summary) || existsSync(join(standIn.cwd, 'links.json'))).toBe(false);
  });

  it('has a section of the log and links for a job on GitLab', async () => {
    const page = 'https://signalbox.example/app/tests/1';
    standIn.answers.upload = { ...classified, failures: [{ ...failure, html_url: page }] };
    const options = ['--gitlab-annotations', 'links.json'];
    const { code, stderr } = await finish(
      standIn.start(['test', ...place, ...options, '--', 'sh', '-c', failing], undefined, {
        GITLAB_CI: 'true',
      }),
    );
    expect(code).toBe(0);
    expect(stderr).toContain(':signalbox\r\u001b[0KSignalbox: 2 tests in 1 report');
    expect(stderr).toMatch(/section_start:\d+:signalbox[^]*section_end:\d+:signalbox\r/);
    expect(JSON.parse(readFileSync(join(standIn.cwd, 'links.json'), 'utf8'))).toEqual({
      Signalbox: [{ external_link: { label: 'cart › removes', url: page } }],
    });
  });

  it('sends several reports as one bundle, to an address that sees no token', async () => {
    const { code } = await run('echo "$PAYLOAD" > junit-1.xml; echo "$PAYLOAD" > junit-2.xml; exit 1');
    expect(code).toBe(0);
    const put = standIn.requests.find(({ path }) => path === '/uploads/1');
    expect(put?.token).toBe('');
    const tar = zstdDecompressSync(put?.body ?? Buffer.alloc(0)).toString();
    for (const name of ['meta.json', 'junit/0', 'junit/1']) expect(tar).toContain(name);
  });

  it.each([
    ['refuses', 403, 'The service answered 403: Not today.'],
    ['breaks', 503, 'The service answered 503: Not today.'],
  ])('keeps the exit code when the service %s', async (_name, status, why) => {
    standIn.answers.upload = status;
    const { code, stderr } = await run(failing);
    expect(code).toBe(1);
    expect(stderr).toContain('FAILED   cart › removes');
    expect(stderr.split(why)).toHaveLength(2);
  });

  it('keeps the exit code when the service is unreachable', async () => {
    standIn.stop();
    const { code, stderr } = await run(failing);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'the exit code stays 1: Signalbox is unreachable (ECONNREFUSED). Check the URL and your connection.',
    );
  });

  it('keeps the exit code when the classification does not come in time', async () => {
    standIn.answers.upload = { ...classified, state: 'stored', ingested_at: null };
    const { code, stderr } = await run(failing, '--wait', '0');
    expect(code).toBe(1);
    expect(stderr).toContain('has not classified the failures within 0 s');
  });

  it('keeps the exit code when the service answers nonsense', async () => {
    standIn.answers.upload = { id: 'x' };
    const { code, stderr } = await run(failing);
    expect(code).toBe(1);
    expect(stderr).toContain('The answer is not from Signalbox');
  });

  it('keeps the exit code when a report is cut off', async () => {
    const { code, stderr } = await run('echo "$PAYLOAD" | head -c 150 > junit.xml; exit 1');
    expect(code).toBe(1);
    expect(stderr).toContain('1 report could not be read completely.');
  });

  it('does not take reports of an earlier run for those of this one', async () => {
    writeFileSync(join(standIn.cwd, 'junit.xml'), report);
    const { code, stderr } = await run('exit 1');
    expect(code).toBe(1);
    expect(stderr).toContain('the exit code stays 1: The command wrote no test report.');
    expect(standIn.requests).toEqual([]);
  });

  it.each([
    ['kill -KILL $$', 137, 'terminated by SIGKILL'],
    ['exit 2', 2, 'exited with 2'],
    ['exit 139', 139, 'exited with 139'],
  ])('keeps the end of a command that ends by `%s`', async (end, expected, why) => {
    const { code, stderr } = await run(`echo "$PAYLOAD" > junit.xml; ${end}`);
    expect(code).toBe(expected);
    expect(stderr).toContain(why);
  });

  it('takes other codes for "tests failed" by wish', async () => {
    expect((await run(`echo "$PAYLOAD" > junit.xml; exit 100`, '--failure-code', '100')).code).toBe(0);
  });

  it('ends with 127 when there is no such command', async () => {
    const { code, stderr } = await finish(start(['test', '--', 'no-such-command']));
    expect(code).toBe(127);
    expect(stderr).toContain('could not be started');
  });

  it('hands signals on, and asks nobody when it was told to end', async () => {
    const child = start([
      'test',
      ...place,
      '--',
      'sh',
      '-c',
      "trap 'kill $!; echo ended; exit 1' TERM; sleep 25 >/dev/null 2>&1 & echo ready; wait",
    ]);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    const { code, stdout } = await finish(child);
    expect(code).toBe(1);
    expect(stdout).toContain('ended');
    expect(standIn.requests).toEqual([]);
  });

  it('needs a command', async () => {
    expect(await finish(start(['test', ...place]))).toMatchObject({ code: 2, stdout: '' });
  });

  it('says once why nothing was sent, without a token', async () => {
    const child = spawn(process.execPath, [standIn.entry, 'test', ...place, '--', 'sh', '-c', failing], {
      cwd: standIn.cwd,
      env: { PATH: process.env['PATH'], PAYLOAD: report },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { code, stderr } = await finish(child);
    expect(code).toBe(1);
    expect(stderr).toContain('the exit code stays 1: The URL of Signalbox is not known. Set SIGNALBOX_URL.');
  });

  it('uploads what is there, in words and as JSON', async () => {
    mkdirSync(join(standIn.cwd, 'out'));
    writeFileSync(join(standIn.cwd, 'out/a.xml'), report);
    const upload = ['upload', '--junit', 'out/*.xml', ...place];
    const shown = await finish(start(upload));
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('FLAKY    cart › removes (quarantined)');
    const json = await finish(start([...upload, '--json']));
    expect(JSON.parse(json.stdout)).toMatchObject({ upload: { id: uuid, failed: 1 } });
  });

  it('ends an upload with 1 when nothing could be sent, unless that may be', async () => {
    writeFileSync(join(standIn.cwd, 'junit.xml'), report);
    standIn.answers.upload = 401;
    const refused = await finish(start(['upload', ...place]));
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('The service answered 401: Not today.');
    expect((await finish(start(['upload', ...place, '--allow-failure']))).code).toBe(0);
    expect((await finish(start(['upload', ...place, '--junit', 'nothing.xml']))).stdout).toContain(
      'No file matches nothing.xml.',
    );
  });
});
