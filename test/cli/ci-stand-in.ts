// A stand-in for the service that gives the commands for CI the answers of a test, and the real process against it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCache } from '../support/compile-cache.ts';

const entry = new URL('../../src/signalbox.ts', import.meta.url).pathname;
export const uuid = '01a1dd90-7364-7571-83f2-535d356cbbf2';

export const failure = {
  test_case_id: uuid,
  name: 'removes',
  classname: 'cart',
  parent: 'cart',
  file: '',
  variant: '',
  outcome: 'failed',
  summary: 'no',
  verdict: 'flaky',
  status: 'flaky',
  quarantined: true,
  is_known_failure: true,
  status_reason: 'Passed and failed on 3 sources.',
  is_excused: true,
};

export const classified = {
  id: uuid,
  state: 'ingested',
  trust: 'full',
  sha: 'a'.repeat(40),
  branch: 'main',
  pr: null,
  job: '',
  variant: '',
  url: '',
  uploaded_at: '2026-11-14T22:37:00.000Z',
  ingested_at: '2026-11-14T22:37:01.000Z',
  duplicate_of: null,
  tests: 2,
  passed: 1,
  failed: 1,
  flaky: 0,
  skipped: 0,
  quarantined: 1,
  usual_tests: 2,
  missing_tests: 0,
  is_suspect: false,
  is_complete: true,
  problems: [],
  failures: [failure],
};

export const report = `<testsuites><testsuite name="cart"><testcase name="adds" classname="cart"/>
<testcase name="removes" classname="cart"><failure message="no">at x</failure></testcase></testsuite></testsuites>`;

export const place = [
  '--repo',
  'git.example/acme/widgets',
  '--sha',
  'a'.repeat(40),
  '--branch',
  'main',
  '--job',
  'unit',
];

type StandInRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: string;
  readonly body: Buffer;
};

export type Finished = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type StandIn = Awaited<ReturnType<typeof openStandIn>>;

const bodyOf = async (request: IncomingMessage) => Buffer.concat((await request.toArray()) as Buffer[]);

/** Opens the stand-in, with a folder for the command. */
export async function openStandIn() {
  const cwd = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  const requests: StandInRequest[] = [];
  /**
   * What the service says of the upload, of the selection, of the durations of files and of new tests. A number: the status
   * with which it refuses; null: nothing.
   */
  const answers: {
    upload: object | number;
    selection: object | number | null;
    durations: object | number | null;
    newTests: object | number | null;
  } = {
    upload: classified,
    selection: { tests: null },
    durations: { durations_ms: [] },
    newTests: { new_tests: [], is_branch_known: true },
  };

  const respond = (path: string): object | number | null => {
    if (path === '/v1/flaky-tests/get-test-selection') return answers.selection;
    if (path === '/v1/flaky-tests/get-file-durations') return answers.durations;
    if (path === '/v1/flaky-tests/list-new-tests') return answers.newTests;
    if (typeof answers.upload === 'number') return answers.upload;
    if (path === '/v1/getOrganization')
      return {
        organization: { slug: 'acme', name: 'Acme' },
        token: { id: 't', name: 't', scopes: ['upload'], expiresAt: null },
      };
    if (path === '/v1/flaky-tests/upload') return { upload_id: uuid, accepted: 2, rejected: [] };
    if (path === '/v1/metrics/createBundleUpload')
      return { id: uuid, idV2: uuid, url: `${url}/uploads/1`, key: 'k' };
    return path === '/v1/flaky-tests/get-upload' ? { upload: answers.upload } : {};
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://x');
    requests.push({ path, query, token: String(request.headers['x-api-token'] ?? ''), body });
    const answer = respond(path);
    if (typeof answer === 'number') {
      response.statusCode = answer;
      response.end('{"error":{"code":"X","message":"Not today."}}');
    } else if (answer !== null) response.end(JSON.stringify(answer));
  };

  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const start = (
    args: readonly string[],
    file = entry,
    more: Readonly<Record<string, string>> = {},
    input: number | 'ignore' = 'ignore',
  ) => {
    const env = {
      PATH: process.env['PATH'],
      ...compileCache,
      SIGNALBOX_URL: url,
      SIGNALBOX_API_TOKEN: 'secret-token',
      PAYLOAD: report,
      ...more,
    };
    // The types know no tuple with the number of an open file.
    const stdio = [input as 'ignore', 'pipe', 'pipe'] as const;
    return spawn(process.execPath, [file, ...args], { cwd, env, stdio: [...stdio] });
  };

  const finish = async (child: ReturnType<typeof start>): Promise<Finished> => {
    const texts = Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
    const [code] = (await once(child, 'exit')) as [number];
    const [stdout = '', stderr = ''] = (await texts).map((chunks) =>
      Buffer.concat(chunks as Buffer[]).toString(),
    );
    return { code, stdout, stderr };
  };

  const close = () => {
    server.closeAllConnections();
    server.close();
    rmSync(cwd, { recursive: true });
  };
  return { cwd, url, entry, requests, answers, start, finish, stop: () => server.close(), close };
}
