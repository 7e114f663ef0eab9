// Git over HTTP, at /<owner>/<name>.git: git http-backend does the talking, as CGI. An installation's token is the
// password of `x-access-token`; a person's token that of any name.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { listRefs } from '#host/sandbox/git.ts';
import { gitEnvironment } from '#git/run.ts';
import { maySee, objection } from './auth.ts';
import { fullNameOf, type Principal, type Repository, type Site } from './model.ts';
import { pushCommands, withReasons } from './pkt-line.ts';
import { type ContentRule, checkPush } from './push-rule.ts';
import { movedSince, noticePush } from './push.ts';

const pattern = /^\/([^/?]+)\/([^/?]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)(?:\?(.*))?$/;

export type GitCall = {
  readonly owner: string;
  readonly name: string;
  readonly path: string;
  readonly query: string;
  readonly isPush: boolean;
};

/** Null: the request is not git's. */
export function gitCallOf(url: string): GitCall | null {
  const [, owner, name, path, query = ''] = pattern.exec(url) ?? [];
  if (owner === undefined) return null;
  const isPush = `${path}?${query}`.includes('git-receive-pack');
  return { owner: decodeURIComponent(owner), name: decodeURIComponent(name!), path: path!, query, isPush };
}

type Deny = { readonly status: number; readonly text: string };

function denial(repository: Repository | undefined, principal: Principal, isPush: boolean): Deny | null {
  if (repository === undefined || !maySee(repository, principal))
    return principal.kind === 'anonymous'
      ? { status: 401, text: 'No anonymous access.' }
      : { status: 404, text: 'Repository not found.' };
  if (isPush && principal.kind === 'anonymous') return { status: 401, text: 'No anonymous write access.' };
  const needs = isPush
    ? ({ permissions: ['contents'], level: 'write', access: 'write' } as const)
    : ({ permissions: ['contents'], level: 'read', access: 'read' } as const);
  return objection(repository, principal, needs) === null
    ? null
    : { status: 403, text: `Permission to ${fullNameOf(repository)}.git denied.` };
}

const unzip = promisify(gunzip);

export type GitAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
};

export async function serveGit(
  site: Site,
  call: GitCall,
  principal: Principal,
  request: IncomingMessage,
  body: Buffer,
): Promise<GitAnswer> {
  const repository = site.repositories.get(`${call.owner}/${call.name}`.toLowerCase());
  const denied = denial(repository, principal, call.isPush);
  if (denied !== null) return refusedGit(denied.status, denied.text);
  const plain = request.headers['content-encoding'] === 'gzip' ? await unzip(body) : body;
  const talk = () => converse(site, repository!, principal, call, request, plain);
  return call.path === 'git-receive-pack' ? site.inTurn(repository!, talk) : talk();
}

/** What makes git ask its user for a password goes with a 401. */
export const refusedGit = (status: number, text: string): GitAnswer => ({
  status,
  headers: {
    'content-type': 'text/plain',
    ...(status === 401 ? { 'www-authenticate': 'Basic realm="GitHub"' } : {}),
  },
  body: `${text}\n`,
});

async function converse(
  site: Site,
  repository: Repository,
  principal: Principal,
  call: GitCall,
  request: IncomingMessage,
  body: Buffer,
): Promise<GitAnswer> {
  if (call.path !== 'git-receive-pack') return capabilitiesOrBackend(repository, call, request, body);
  const { rules, content, reasons } = await checkPush(repository, principal, pushCommands(body));
  const lines = rules.map(({ ref, rule, words }) => `${ref}\t${rule}\t${words}`);
  const before = await listRefs(repository.directory, 'refs/heads', 'refs/tags');
  const answer = await runBackend(repository, call, request, body, {
    GITHUB_SERVER_RULES: lines.join('\n'),
    ...contentEnvironment(content),
  });
  const after = await listRefs(repository.directory, 'refs/heads', 'refs/tags');
  await noticePush(site, repository, movedSince(before, after), principal);
  return { ...answer, body: withReasons(answer.body, reasons) };
}

/** What git says it can do in a repository does not change, and says nothing of its refs in version 2 of the protocol. */
const capabilities = new WeakMap<Repository, Promise<PackAnswer>>();

function capabilitiesOrBackend(
  repository: Repository,
  call: GitCall,
  request: IncomingMessage,
  body: Buffer,
): Promise<PackAnswer> {
  const answer = () => runBackend(repository, call, request, body, {});
  const isAsked =
    call.path === 'info/refs' && !call.isPush && request.headers['git-protocol'] === 'version=2';
  if (!isAsked) return answer();
  const known = capabilities.get(repository) ?? answer();
  capabilities.set(repository, known);
  known.catch(() => capabilities.delete(repository));
  return known;
}

const contentHook = fileURLToPath(new URL('content-hook.ts', import.meta.url));

const contentEnvironment = (rules: readonly ContentRule[]): Readonly<Record<string, string>> =>
  rules.length === 0
    ? {}
    : {
        GITHUB_SERVER_CONTENT_RULES: JSON.stringify(rules),
        GITHUB_SERVER_CONTENT_HOOK: contentHook,
        GITHUB_SERVER_NODE: process.execPath,
      };

/** Milliseconds that one conversation may take. */
const conversationMs = 60_000;

type PackAnswer = GitAnswer & { readonly body: Buffer };

async function runBackend(
  { directory }: Repository,
  { path, query }: GitCall,
  { method, headers }: IncomingMessage,
  body: Buffer,
  more: Readonly<Record<string, string>>,
): Promise<PackAnswer> {
  const child = spawn('git', ['http-backend'], {
    timeout: conversationMs,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...gitEnvironment,
      ...more,
      GIT_PROJECT_ROOT: dirname(directory),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${basename(directory)}/${path}`,
      QUERY_STRING: query,
      REQUEST_METHOD: method ?? 'GET',
      REMOTE_USER: 'pusher',
      REMOTE_ADDR: '127.0.0.1',
      CONTENT_TYPE: headers['content-type'] ?? '',
      CONTENT_LENGTH: String(body.length),
      HTTP_GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    },
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A backend that ends early does not read on; what it answered tells why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(body);
  await once(child, 'close');
  return parseCgi(Buffer.concat(chunks));
}

function parseCgi(output: Buffer): PackAnswer {
  const end = output.indexOf('\r\n\r\n');
  if (end < 0) throw new Error('git http-backend ended without an answer');
  const entries = output
    .subarray(0, end)
    .toString('latin1')
    .split('\r\n')
    .map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]);
  const { status = '200', ...headers } = Object.fromEntries(entries) as Record<string, string>;
  return { status: Number.parseInt(status, 10), headers, body: output.subarray(end + 4) };
}
