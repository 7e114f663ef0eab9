// A CI job without a stored token, against the real processes: what the command line and the GitHub Action make of the identity
// that a certified OpenID provider signs for it.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../script/free-port.ts';
import { type OidcProvider, startOidcProvider } from '../fixture/oidc-provider.ts';
import { compileCache } from '../support/compile-cache.ts';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';
import { post, type ServerProcess, startProcess } from '../support/server-process.ts';

const token = 'fake-token-for-tests-0123';
const requestToken = 'obviously-fake-request-token';
const sha = 'a'.repeat(40);
const repo = { host: 'sandbox.example', owner: 'acme', name: 'widgets' };
const entry = new URL('../../src/signalbox.ts', import.meta.url).pathname;
const report = '<testsuite name="s"><testcase name="adds"/></testsuite>';

let database: string;
let server: ServerProcess;
let provider: OidcProvider;
let runner: Server;
let cwd: string;
/** What Signalbox is called, which is the audience of identity tokens. */
let url: string;

const claimsFor = (audience: string | null) => {
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: provider.issuer,
    aud: audience,
    iat: now,
    exp: now + 300,
    repository: 'acme/widgets',
    ref: 'refs/heads/main',
    sha,
    event_name: 'push',
  };
};

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'signalbox-identity-'));
  provider = await startOidcProvider({ redirectUri: 'http://127.0.0.1/', accounts: {} });
  // The part of the runner that gives a job its identity token.
  runner = createServer((request, response) => {
    const audience = new URL(request.url ?? '', 'http://runner').searchParams.get('audience');
    const isJob = request.headers.authorization === `bearer ${requestToken}`;
    response.statusCode = isJob ? 200 : 401;
    response.end(JSON.stringify(isJob ? { value: provider.signToken(claimsFor(audience)) } : {}));
  });
  runner.listen(0, '127.0.0.1');
  await once(runner, 'listening');
  database = await createDatabase();
  const port = await freePort();
  url = `http://localhost:${port}`;
  server = await startProcess('start', databaseUrl(database), {
    SIGNALBOX_PORT: String(port),
    SIGNALBOX_PUBLIC_URL: url,
    SIGNALBOX_BOOTSTRAP_ORG: 'acme',
    SIGNALBOX_BOOTSTRAP_TOKEN: token,
    SIGNALBOX_WEBHOOK_ALLOW: '127.0.0.1/32',
  });
  await ask('createQueue', { repo, targetBranch: 'main' });
  await ask('trustCi', {
    name: 'ci',
    provider: 'github_actions',
    issuer: provider.issuer,
    repositories: [repo],
  });
});

afterAll(async () => {
  await server.stop();
  await dropDatabase(database);
  runner.close();
  await provider.stop();
  rmSync(cwd, { recursive: true });
});

async function ask(operation: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const answer = await post(server.url, `/v1/${operation}`, token, JSON.stringify(body));
  expect([operation, answer.status]).toEqual([operation, 200]);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

const jobEnv = () => ({
  PATH: process.env['PATH'],
  HOME: cwd,
  ...compileCache,
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: 'https://sandbox.example',
  GITHUB_REPOSITORY: 'acme/widgets',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_REF: 'refs/heads/main',
  GITHUB_REF_NAME: 'main',
  GITHUB_SHA: sha,
  GITHUB_JOB: 'unit',
  ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(runner.address() as AddressInfo).port}/token?api-version=1`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
});

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

async function runNode(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args], { cwd, env });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Ended;
  }
}

async function readUpload() {
  const { uploads } = (await ask('flaky-tests/list-uploads', {
    repo,
    org_url_slug: 'acme',
    page_query: { page_size: 1 },
  })) as { uploads: readonly object[] };
  return uploads[0];
}

it('uploads with the identity of the job, and with no stored token', async () => {
  writeFileSync(join(cwd, 'junit.xml'), report);
  const env = { ...jobEnv(), SIGNALBOX_URL: url, SIGNALBOX_ORG: 'acme' };
  const { code, stdout, stderr } = await runNode([entry, 'upload', '--junit', 'junit.xml'], env);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('1 test in 1 report');
  expect(await readUpload()).toMatchObject({ sha, branch: 'main', trust: 'full', job: 'unit' });
});

it('says what is missing when the job has neither a token nor an identity', async () => {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: _address, ...env } = jobEnv();
  const ended = await runNode([entry, 'upload', '--junit', 'junit.xml'], { ...env, SIGNALBOX_URL: url });
  expect(ended.code).toBe(1);
  expect(ended.stdout + ended.stderr).toContain('There is no token.');
});

it('gives the steps after the action a token that is masked in the log', async () => {
  const action = parse(readFileSync('action.yml', 'utf8')) as {
    readonly inputs: Readonly<Record<string, { readonly required: boolean }>>;
    readonly runs: { readonly main: string };
  };
  expect(Object.keys(action.inputs)).toEqual(['url', 'organization']);
  const main = join(process.cwd(), action.runs.main);
  const [variables, output] = [join(cwd, 'env'), join(cwd, 'output')];
  writeFileSync(variables, '');
  writeFileSync(output, '');
  const files = { GITHUB_ENV: variables, GITHUB_OUTPUT: output };
  const inputs = { INPUT_URL: `${url}/`, INPUT_ORGANIZATION: 'acme' };
  const { code, stdout } = await runNode([main], { ...jobEnv(), ...files, ...inputs });
  expect([code, stdout]).toEqual([0, expect.stringContaining('this job is let in')]);
  const given = Object.fromEntries(
    readFileSync(variables, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('=', 2)),
  ) as Record<string, string>;
  expect(given).toMatchObject({ SIGNALBOX_URL: url, SIGNALBOX_ORG: 'acme' });
  expect(stdout).toContain(`::add-mask::${given['SIGNALBOX_API_TOKEN']}\n`);
  expect(readFileSync(output, 'utf8')).toBe(`token=${given['SIGNALBOX_API_TOKEN']}\n`);
  const answer = await post(server.url, '/v1/getOrganization', given['SIGNALBOX_API_TOKEN']!, '{}');
  expect(await answer.json()).toMatchObject({ token: { scopes: ['upload'] } });

  const refused = await runNode([main], { ...jobEnv(), ...files, ...inputs, INPUT_ORGANIZATION: 'globex' });
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain(
    '::error title=Signalbox::Signalbox answered 403: The organization globex',
  );
  const { ACTIONS_ID_TOKEN_REQUEST_URL: _address, ...ofFork } = jobEnv();
  const fork = await runNode([main], { ...ofFork, ...files, ...inputs });
  expect([fork.code, fork.stdout]).toEqual([1, expect.stringContaining('permission id-token: write')]);
});
