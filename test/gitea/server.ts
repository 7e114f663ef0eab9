// A real Gitea on loopback, for tests: its own folder, its own port, nothing of the machine's own. It starts in about
// two seconds once it is built (build.ts), and everything that it started has ended when `stop` returns.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../script/free-port.ts';
import { giteaFolder } from './build.ts';
import { type Daemon, eventually, startDaemon } from './process.ts';
import { type Runner, type RunnerOptions, startRunner } from './runner.ts';
import { iniOf, merged, type Settings, settingsFor } from './settings.ts';

export type GiteaUser = {
  readonly name: string;
  readonly password: string;
  /** An access token that may do everything that the user may; also good as the password of git over HTTP. */
  readonly token: string;
};

export type GiteaRepository = {
  readonly owner: string;
  readonly name: string;
  /** The path of its part of the API: `/repos/owner/name`. */
  readonly path: string;
  /** Its address for git, with the credentials of a user. */
  readonly remote: (user: GiteaUser) => string;
};

export type Gitea = {
  /** Without a slash at the end; the API is under `/api/v1`. */
  readonly url: string;
  readonly adminToken: string;
  /** The folder with its bare repositories: `<owner>/<name>.git`. */
  readonly repositories: string;
  readonly admin: GiteaUser;
  /** Calls the API; an answer that is not a success is thrown. */
  readonly call: <T = unknown>(token: string, method: string, path: string, body?: object) => Promise<T>;
  readonly newUser: (name: string) => Promise<GiteaUser>;
  /** With a first commit on its default branch `main`, which has a README.md. `options` are Gitea's own. */
  readonly newRepository: (owner: GiteaUser, name: string, options?: object) => Promise<GiteaRepository>;
  readonly startRunner: (options?: RunnerOptions) => Promise<Runner>;
  /** What the server has written to its logs, from level warn on. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
};

type GiteaOptions = {
  /** Settings of app.ini beside those of settings.ts, or in their place. */
  readonly settings?: Settings;
  /** Without it a free one is taken. */
  readonly port?: number;
};

const run = promisify(execFile);

export async function startGitea(options: GiteaOptions = {}): Promise<Gitea> {
  const assets = giteaFolder();
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-gitea-'));
  const started: { stop: () => Promise<void> }[] = [];
  const stop = async () => {
    for (const daemon of started.splice(0).toReversed()) await daemon.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const port = options.port ?? (await freePort());
    const url = `http://127.0.0.1:${port}`;
    const config = join(folder, 'app.ini');
    const settings = merged(settingsFor({ url, port, data: folder, assets }), options.settings ?? {});
    await writeFile(config, iniOf(settings));
    await mkdir(join(folder, 'home'));
    // Git reads its own settings only from the folder of this server.
    const env = {
      PATH: process.env['PATH'],
      HOME: join(folder, 'home'),
      USER: process.env['USER'] ?? 'root',
      // Each push starts the program for its hooks, which are over before a collection of garbage is worth it; the
      // server itself collects when it has grown to this size.
      GOGC: 'off',
      GOMEMLIMIT: '400MiB',
    };
    const gitea = async (...args: readonly string[]) => {
      const { stdout } = await run(join(assets, 'gitea'), ['--config', config, ...args], {
        cwd: folder,
        env,
      });
      return stdout;
    };

    await gitea('migrate');
    const admin = await newAdmin(gitea);
    const logFile = join(folder, 'server.log');
    const daemon = startDaemon(join(assets, 'gitea'), ['--config', config, 'web'], {
      cwd: folder,
      env,
      logFile,
      patienceMs: 10_000,
    });
    started.push(daemon);
    await ready(url, daemon, admin);

    return {
      url,
      adminToken: admin.token,
      repositories: join(folder, 'data', 'gitea-repositories'),
      admin,
      call: (token, method, path, body) => callApi(url, `token ${token}`, method, path, body),
      newUser: (name) => newUser(url, admin.token, name),
      newRepository: (owner, name, options) => newRepository(url, owner, name, options),
      startRunner: async (options) => {
        const token = tokenIn(await gitea('actions', 'generate-runner-token'));
        const runner = await startRunner({ url, token, folder, number: started.length, ...options });
        started.push(runner);
        return runner;
      },
      log: () => daemon.output(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Asks with the token of this server's admin, so that another server on the same port is not taken for it. */
async function ready(url: string, daemon: Daemon, { token }: GiteaUser): Promise<void> {
  const headers = { authorization: `token ${token}` };
  await eventually('Gitea answers', async () => {
    if (!daemon.running()) throw new Error(`Gitea did not start:\n${daemon.output()}`);
    const answer = await fetch(`${url}/api/v1/user`, { headers }).catch(() => undefined);
    return answer?.ok;
  });
}

/** Made before the server runs, in its database: there is nobody yet who could make users. */
async function newAdmin(gitea: (...args: string[]) => Promise<string>): Promise<GiteaUser> {
  const name = 'gitea-admin';
  const password = newPassword();
  const user = ['--username', name, '--password', password, '--email', `${name}@example.com`];
  const flags = ['--admin', '--must-change-password=false'];
  await gitea('admin', 'user', 'create', ...user, ...flags);
  const token = ['--username', name, '--token-name', 'tests', '--scopes', 'all', '--raw'];
  const answer = await gitea('admin', 'user', 'generate-access-token', ...token);
  return { name, password, token: tokenIn(answer) };
}

/** It is a line of its own; warnings come before it, and on a busy machine after it. */
function tokenIn(answer: string): string {
  const found = /^[0-9A-Za-z]{40}$/m.exec(answer)?.[0];
  if (found === undefined) throw new Error(`Gitea answered with this instead of a token: ${answer}`);
  return found;
}

async function newUser(url: string, adminToken: string, name: string): Promise<GiteaUser> {
  const password = newPassword();
  await callApi(url, `token ${adminToken}`, 'POST', '/admin/users', {
    username: name,
    email: `${name}@example.com`,
    password,
    must_change_password: false,
  });
  // Only a user with their password may make a token.
  const basic = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const token = { name: 'tests', scopes: ['all'] };
  const { sha1 } = await callApi<{ sha1: string }>(url, basic, 'POST', `/users/${name}/tokens`, token);
  return { name, password, token: sha1 };
}

async function newRepository(
  url: string,
  owner: GiteaUser,
  name: string,
  options: object = {},
): Promise<GiteaRepository> {
  const body = { name, auto_init: true, default_branch: 'main', ...options };
  await callApi(url, `token ${owner.token}`, 'POST', '/user/repos', body);
  return {
    owner: owner.name,
    name,
    path: `/repos/${owner.name}/${name}`,
    remote: (user) => `${url.replace('://', `://${user.name}:${user.token}@`)}/${owner.name}/${name}.git`,
  };
}

async function callApi<T>(
  url: string,
  authorization: string,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

const newPassword = () => randomBytes(16).toString('hex');
