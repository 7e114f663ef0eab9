// Runs git in a process of its own: without a shell, without the configuration of the machine or the user, without
// prompts, with a time limit, and with an output that cannot fill the memory.
//
// A credential is a header of the remote. It reaches git in its environment (GIT_CONFIG_KEY_n), never on a
// command line or in a URL, both of which other users of the machine and error messages can see. Credentials
// are removed from the output of git before it is used, because a remote may echo what it was sent.

import { assert } from '#base/assert.ts';
import { traced } from '#base/trace.ts';
import { GitError, classifyGitOutput } from './error.ts';
import { launchGit } from './launcher.ts';

export type Remote = {
  /** Without user name and password if it is http(s). */
  readonly url: string;
  /** Whole lines, such as `Authorization: Bearer …`, sent with each request over http(s). */
  readonly headers?: readonly string[];
};

export type GitSettings = {
  /** The repository; GIT_DIR of every call. */
  readonly directory: string;
  /** Absent where nothing is fetched or pushed. */
  readonly remote?: Remote;
  /** Further variables, such as PATH, HTTPS_PROXY, SSL_CERT_FILE, or HOME where ssh needs its keys. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * The repository is a partial clone, and git may fetch missing files from the remote. This is set in the
   * environment and not in the configuration of the repository, so that calls that only read local objects
   * never fetch (git docs, "partial-clone": a promisor remote).
   */
  readonly isPromised?: boolean;
  /** Further configuration, with keys as git writes them. */
  readonly config?: readonly (readonly [key: string, value: string])[];
};

export type GitCall = {
  readonly args: readonly string[];
  readonly input?: string | Buffer;
  /** Default 60,000. */
  readonly timeoutMs?: number;
  /** What a timeout means; default `unreachable`. Work whose size a pull request decides: `too_much`. */
  readonly timeoutKind?: 'unreachable' | 'too_much';
  /** Longest time without output, in place of `timeoutMs`: for long commands that report their progress. */
  readonly stallMs?: number;
  /** Receives standard error as it is printed. */
  readonly onStderr?: (text: string) => void;
  /** Ends git. */
  readonly signal?: AbortSignal;
  /** Most bytes of standard output; default 32 MiB. */
  readonly outputBytesMax?: number;
  /** Exit codes that count as success; default 0 only. */
  readonly exitCodes?: readonly number[];
};

/**
 * For local work whose size the author of a pull request decides: enough time for a busy machine, and what takes
 * longer is the fault of the pull request, not of the Git host.
 */
export const boundedWork = { timeoutMs: 300_000, timeoutKind: 'too_much' } as const;

export type GitAnswer = { readonly exitCode: number; readonly stdout: Buffer; readonly stderr: string };

/** The PATH, unless the environment of a call names one. No other variable of this process is passed on. */
export const programPath = '/usr/local/bin:/usr/bin:/bin';

/** Variables that no settings override. */
const isolation = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** Without ext:: and similar protocols, which run commands. */
const networkProtocols = 'git:http:https:ssh';

/** Local files are read unless the remote is on the network: its redirects and submodules never name one. */
const allowedProtocols = (remote: Remote | undefined): string =>
  remote === undefined || /^(?:file:|[./])/.test(remote.url) ? `file:${networkProtocols}` : networkProtocols;

/** The environment of a git command whose repository is not set by GIT_DIR. */
export const gitEnvironment = {
  PATH: programPath,
  HOME: '/nonexistent',
  ...isolation,
  GIT_ALLOW_PROTOCOL: `file:${networkProtocols}`,
};

/** The name under which git knows the remote. */
export const remoteName = 'signalbox';

export function assertRemote({ url, headers = [] }: Remote): void {
  assert(!/^https?:\/\/[^/]*@/i.test(url), 'the URL of a remote holds no credential');
  assert(!url.startsWith('-'), 'the URL of a remote is not an option');
  assert(
    headers.every((header) => /^[\w-]+: [^\r\n]+$/.test(header)),
    'a header of a remote is one line',
  );
}

export function buildGitEnvironment(settings: GitSettings): Record<string, string> {
  const { directory, remote, environment, isPromised = false } = settings;
  const config = [
    ...(remote === undefined ? [] : buildRemoteConfig(remote, isPromised)),
    ...(settings.config ?? []),
  ];
  return {
    ...gitEnvironment,
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
    ...environment,
    ...isolation,
    GIT_ALLOW_PROTOCOL: allowedProtocols(remote),
    GIT_DIR: directory,
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Seconds without a byte until git gives up an http request; a packing server sends something every 5. */
const silentSeconds = 120;

const buildRemoteConfig = (
  { url, headers = [] }: Remote,
  isPromised: boolean,
): readonly (readonly [string, string])[] => [
  [`remote.${remoteName}.url`, url],
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', String(silentSeconds)],
  // The filter too: otherwise git writes it into the configuration of the repository.
  ...(isPromised
    ? ([
        [`remote.${remoteName}.promisor`, 'true'],
        [`remote.${remoteName}.partialCloneFilter`, 'blob:none'],
      ] as const)
    : []),
  ...headers.map((header) => [`http.${url}.extraHeader`, header] as const),
];

/** The text without the remote's credentials, in whichever form they appear. */
export function withoutCredentials(text: string, { headers = [] }: Partial<Remote> = {}): string {
  const secrets = headers.flatMap((header) => {
    const value = header.slice(header.indexOf(':') + 1).trim();
    const credential = value.split(/\s+/).at(-1)!;
    const [, scheme] = /^(\w+)\s/.exec(value) ?? [];
    if (scheme?.toLowerCase() !== 'basic') return [value, credential];
    const decoded = Buffer.from(credential, 'base64').toString();
    return [value, credential, decoded, decoded.slice(decoded.indexOf(':') + 1)];
  });
  return (
    secrets
      // Shorter values are not secrets, and occur inside other text.
      .filter((secret) => secret.length >= 5)
      .toSorted((a, b) => b.length - a.length)
      .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
      .replaceAll(/(\/\/)[^/@\s]+@/g, '$1***@')
  );
}

/** Resolves when git exits with one of the expected codes; throws a GitError otherwise. */
export function runGit(settings: GitSettings, call: GitCall): Promise<GitAnswer> {
  const command = call.args[0]!;
  const attributes = { 'signalbox.git.command': command };
  return traced({ name: `git ${command}`, kind: 'internal', attributes }, () => started(settings, call));
}

async function started(settings: GitSettings, call: GitCall): Promise<GitAnswer> {
  const { args, input, timeoutMs = 60_000, timeoutKind = 'unreachable', stallMs, onStderr, signal } = call;
  const { outputBytesMax = 32 * 1024 * 1024, exitCodes = [0] } = call;
  const ended = await launchGit(
    {
      args,
      environment: buildGitEnvironment(settings),
      input,
      timeoutMs: stallMs ?? timeoutMs,
      isStall: stallMs !== undefined,
      outputBytesMax,
    },
    { onStderr, signal },
  );
  const stderr = withoutCredentials(withoutProgress(ended.stderr), settings.remote);
  const withCommand = (text: string) => `git ${args[0]}: ${text}`;
  switch (ended.kind) {
    case 'not started':
      throw new GitError('failed', withCommand(stderr));
    case 'timed out':
      throw new GitError(
        timeoutKind,
        withCommand(
          stallMs === undefined
            ? `timed out after ${timeoutMs} ms. ${stderr}`
            : `timed out: nothing came for ${stallMs} ms. ${stderr}`,
        ),
      );
    case 'lost':
      throw new GitError('unreachable', withCommand(stderr));
    case 'ended by us':
      throw new GitError('unreachable', withCommand('was ended.'));
    case 'too much':
      throw new GitError('failed', withCommand(`printed more than ${outputBytesMax} bytes.`));
    case 'exited':
      if (ended.exitCode !== null && exitCodes.includes(ended.exitCode))
        return { exitCode: ended.exitCode, stdout: ended.stdout, stderr };
      throw new GitError(
        classifyGitOutput(stderr),
        withCommand(stderr.trim() || `ended with ${ended.exitCode ?? 'a signal'}`),
      );
  }
}

/** Each line as it was last shown: progress output overwrites itself. */
export const withoutProgress = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.split('\r').findLast(Boolean) ?? '')
    .join('\n');
