// `npm run check:image`: performs the steps of the Dockerfile without Docker, then starts what came of them as the image
// would be run in production: as its user, without privileges, with nothing to write to but /data and /tmp. A pull request
// must land there. The base image is this machine's own /usr; what a step installs with apt-get must be there already.

import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { basename, dirname, join, matchesGlob } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createCleanup } from '../test/bench/fixture.ts';
import { goal } from '../test/bench/figure.ts';
import { type Figure, isMissed, lineOf } from '../test/soak/report.ts';
import { environmentOf, lastOf, parseDockerfile, type Stage, type Step } from './dockerfile.ts';
import { freePort } from './free-port.ts';
import { requireMounts, runIn, spawnIn } from './image-root.ts';
import { startCluster } from './postgres.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const token = 'fake-token-for-the-image-check';
const cleanup = createCleanup();
const folder = mkdtempSync(join(tmpdir(), 'signalbox-image-'));
cleanup.add(() => rmSync(folder, { recursive: true, force: true }));

/** Files that `docker build` would send: those that git would, without those that .dockerignore names. */
function contextFolder(): string {
  const patterns = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const isIgnored = (file: string) =>
    file
      .split('/')
      .map((_, at, parts) => parts.slice(0, at + 1).join('/'))
      .some((path) => patterns.some((pattern) => matchesGlob(path, pattern)));
  const context = join(folder, 'context');
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(name) && !isIgnored(name)))
    cpSync(file, join(context, file), { recursive: true });
  return context;
}

const rootOf = (name: string): string => join(folder, `stage-${name}`);

function copy(stage: Stage, { flags, text }: Step, workdir: string, context: string): void {
  const words = text.split(/\s+/);
  const target = join(rootOf(stage.name), workdir, words.at(-1)!);
  const from = flags.get('from');
  for (const source of words.slice(0, -1)) {
    const path = from === undefined ? join(context, source) : join(rootOf(from), source);
    const isFolder = statSync(path).isDirectory();
    const to = isFolder || !words.at(-1)!.endsWith('/') ? target : join(target, basename(source));
    mkdirSync(isFolder ? to : dirname(to), { recursive: true });
    cpSync(path, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  }
}

/** What npm needs of this machine to reach its registry. */
const network = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name) && value !== undefined ? [[name, value]] : [],
  ),
);

async function perform(stage: Stage, context: string): Promise<void> {
  const root = rootOf(stage.name);
  mkdirSync(root, { recursive: true });
  let workdir = '/';
  for (const step of stage.steps) {
    if (step.instruction === 'WORKDIR') workdir = step.text;
    else if (step.instruction === 'COPY') copy(stage, step, workdir, context);
    else if (step.instruction === 'RUN' && step.text.startsWith('apt-get'))
      console.error(`not run: ${step.text}`);
    else if (step.instruction === 'RUN') {
      console.error(`${stage.name}: ${step.text}`);
      const command = ['sh', '-c', `npm() { node /npm/bin/npm-cli.js "$@"; }; ${step.text}`];
      await runIn({ root, mode: 'rw', environment: network, workdir, user: null, command });
    }
  }
}

async function landOne(url: string): Promise<void> {
  const repo = { host: 'sandbox.example', owner: 'acme', name: 'widgets' };
  const at = { repo, targetBranch: 'main' };
  const call = async (operation: string, body: object) => {
    const headers = { 'x-api-token': token, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/${operation}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${operation} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { state?: string };
  };
  await call('createQueue', at);
  await call('submitPullRequest', { ...at, pr: { number: 7 } });
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(200))
    if ((await call('getSubmittedPullRequest', { ...at, pr: { number: 7 } })).state === 'merged') return;
  throw new Error('the pull request did not land within a minute');
}

/** The exit code of the image's own HEALTHCHECK. */
async function health(stage: Stage, environment: Record<string, string>): Promise<number | null> {
  const [, command = '[]'] = /CMD\s+(\[.*\])$/.exec(lastOf(stage, 'HEALTHCHECK') ?? '') ?? [];
  const child = spawnIn({
    root: rootOf(stage.name),
    mode: 'ro',
    environment,
    workdir: '/app',
    user: lastOf(stage, 'USER'),
    command: JSON.parse(command) as string[],
  });
  return ((await once(child, 'exit')) as [number | null])[0];
}

async function start(stage: Stage): Promise<Figure[]> {
  const cluster = await startCluster({ durable: false });
  cleanup.add(cluster.stop);
  const port = await freePort();
  const environment = {
    ...environmentOf(stage),
    DATABASE_URL: cluster.url('postgres'),
    SIGNALBOX_ADDRESS: '127.0.0.1',
    SIGNALBOX_PORT: String(port),
    SIGNALBOX_BOOTSTRAP_ORG: 'acme',
    SIGNALBOX_BOOTSTRAP_TOKEN: token,
    SIGNALBOX_LOG_LEVEL: 'warn',
  };
  const root = rootOf(stage.name);
  const user = lastOf(stage, 'USER');
  if (user === null || !/^[1-9]\d*:[1-9]\d*$/.test(user))
    throw new Error('USER must be numeric, and not root');
  const command = [lastOf(stage, 'ENTRYPOINT'), lastOf(stage, 'CMD')].flatMap(
    (text) => JSON.parse(text ?? '[]') as string[],
  );
  const sizeMiB = Number(execFileSync('du', ['-sm', join(root, 'app')], { encoding: 'utf8' }).split('\t')[0]);
  const begunAt = performance.now();
  const child = spawnIn({
    root,
    mode: 'ro',
    environment,
    workdir: lastOf(stage, 'WORKDIR') ?? '/',
    user,
    command,
  });
  cleanup.add(() => child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const until = Date.now() + 60_000; !(await isReady()); await sleep(100))
    if (child.exitCode !== null || Date.now() > until) throw new Error('it did not become ready');
  const readySeconds = (performance.now() - begunAt) / 1_000;
  const healthy = await health(stage, environment);
  await landOne(url);
  const exited = once(child, 'exit');
  child.kill(stage.steps.some(({ text }) => text === 'SIGTERM') ? 'SIGTERM' : 'SIGKILL');
  const [code] = (await exited) as [number | null];
  const unhealthy = await health(stage, environment);
  return [
    goal('seconds until ready', readySeconds, '<=', 30),
    { name: 'pull requests landed', value: 1, goal: '1', isMet: true },
    { name: 'HEALTHCHECK while it runs', value: healthy ?? -1, goal: '0', isMet: healthy === 0 },
    { name: 'HEALTHCHECK after its end', value: unhealthy ?? -1, goal: '1', isMet: unhealthy === 1 },
    { name: 'exit code after SIGTERM', value: code ?? -1, goal: '0', isMet: code === 0 },
    goal('MiB of /app', sizeMiB, '<=', 250),
  ];
}

try {
  requireMounts();
  const stages = parseDockerfile(readFileSync('Dockerfile', 'utf8'));
  const context = contextFolder();
  for (const stage of stages) await perform(stage, context);
  const last = stages.at(-1)!;
  const [uid = 0, gid = 0] = (lastOf(last, 'USER') ?? '').split(':').map(Number);
  chownSync(join(rootOf(last.name), 'data'), uid, gid);
  const figures = await start(last);
  if (values.json) console.log(JSON.stringify({ figures }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}
