// The CI of a server: Gitea's own runner, which executes the jobs of workflows on this machine, without containers.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runnerFolder } from './build.ts';
import { eventually, startDaemon } from './process.ts';

export type RunnerOptions = {
  /** How many jobs it executes at once. Default 2. */
  readonly capacity?: number;
  /** What jobs name in `runs-on`. Default `linux`. */
  readonly label?: string;
};

export type Runner = {
  readonly name: string;
  /** What the runner itself has written; what jobs write goes to the server. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
};

type Registration = RunnerOptions & {
  readonly url: string;
  /** With which a runner presents itself to the server, once. */
  readonly token: string;
  /** The folder of the server; each runner has one of its own in it. */
  readonly folder: string;
  readonly number: number;
};

const run = promisify(execFile);

export async function startRunner(registration: Registration): Promise<Runner> {
  const { url, token, folder, number, capacity = 2, label = 'linux' } = registration;
  const binary = join(runnerFolder(), 'gitea-runner');
  const name = `runner-${number}`;
  const home = join(folder, name);
  await mkdir(home);
  const config = join(home, 'config.yaml');
  await writeFile(config, configOf(home, capacity, label));
  // Jobs see this environment: nothing in it is the developer's.
  const env = { PATH: process.env['PATH'], HOME: home };
  const register = ['register', '--no-interactive', '--instance', url, '--token', token, '--name', name];
  await run(binary, ['--config', config, ...register], { cwd: home, env });
  const logFile = join(home, 'runner.log');
  const daemon = startDaemon(binary, ['--config', config, 'daemon'], {
    cwd: home,
    env,
    logFile,
    // It would wait for what its jobs have started; a test that stops it has no use for those.
    patienceMs: 1_000,
  });
  try {
    await eventually('the runner is at work', () => {
      if (!daemon.running()) throw new Error(`The runner did not start:\n${daemon.output()}`);
      return daemon.output().includes('declare successfully');
    });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return { name, log: daemon.output, stop: daemon.stop };
}

/** It asks for jobs and tells what became of them many times a second; by default that takes seconds. */
const configOf = (home: string, capacity: number, label: string) => `
log: { level: info }
runner:
  file: ${home}/registration.json
  capacity: ${capacity}
  labels: ['${label}:host']
  fetch_interval: 200ms
  fetch_interval_max: 200ms
  log_report_interval: 1s
  log_report_max_latency: 500ms
  state_report_interval: 1s
  shutdown_timeout: 0s
cache: { enabled: false }
host: { workdir_parent: '${home}/job' }
`;
