// The real process, as an administrator starts it: `node src/signalbox.ts <command>`.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { compileCache } from './compile-cache.ts';
import { processFolder } from './database.ts';
import { checkResponse } from './openapi-check.ts';

export type ServerProcess = {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Everything it has logged, parsed. */
  readonly logs: () => readonly Record<string, unknown>[];
  /** Sends SIGTERM and waits; answers with the exit code. */
  readonly stop: () => Promise<number | null>;
};

const environment = (databaseUrl: string, extra: Record<string, string>) => ({
  PATH: process.env['PATH'] ?? '',
  ...compileCache,
  ...('SIGNALBOX_CELLS' in extra ? {} : { DATABASE_URL: databaseUrl }),
  SIGNALBOX_PORT: '0',
  SIGNALBOX_DATA_DIR: processFolder(new URL(databaseUrl).pathname.slice(1)),
  ...extra,
});

export async function startProcess(
  command: 'start' | 'serve' | 'work',
  databaseUrl: string,
  extra: Record<string, string> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['src/signalbox.ts', command], {
    env: environment(databaseUrl, extra),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const logs = () =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const ready = command === 'work' ? 'working on jobs' : 'serving the API';
  for (let waited = 0; !logs().some((line) => line['msg'] === ready); waited += 20) {
    if (child.exitCode !== null || waited > 20_000)
      throw new Error(`the process did not start: ${errors}${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: (logs().find((line) => line['msg'] === ready)?.['address'] ?? '') as string,
    pid: child.pid!,
    child,
    logs,
    stop: async () => {
      if (child.exitCode !== null) return child.exitCode;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
  };
}

/** Runs a command to its end. */
export async function runMain(
  databaseUrl: string,
  args: readonly string[],
  extra: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = promisify(execFile);
  try {
    const env = environment(databaseUrl, extra);
    return { code: 0, ...(await run(process.execPath, ['src/signalbox.ts', ...args], { env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

/** The most memory the process ever held, in MiB. */
export function peakMemoryMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

export async function post(url: string, path: string, token: string, body: string): Promise<Response> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-api-token': token, 'content-type': 'application/json' },
    body,
  });
  const type = answer.headers.get('content-type') ?? '';
  checkResponse('POST', path, answer.status, type, await answer.clone().json());
  return answer;
}
