// `signalbox demo`: PostgreSQL, the service and a simulated team with its CI, on this machine alone. All of it lives in
// one temporary folder and in processes of the demo's own, and ends with it.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoWishes } from '#cli/demo.ts';
import { exitCodes } from '#cli/exit-codes.ts';
import { printJson, printLines } from '#cli/terminal/output.ts';
import { runCi } from './ci.ts';
import { createDemoClient } from './client.ts';
import { figuresOf, lineOf } from './figures.ts';
import { anyPort, checkGit, choosePort, openStage, type Stage } from './stage.ts';
import { findBinaries, startDatabase } from './postgres.ts';
import { demoRepositories, type DemoRepository } from './repository.ts';
import { startStatusLine, statusLine, welcome } from './screen.ts';
import { startService } from './service.ts';
import { setUp } from './setup.ts';
import { openPullRequests, watchTeam } from './team.ts';
import { changesOf, changesOfAll, type PlannedChange } from './workload.ts';
import type { World } from './world.ts';

/** The exit code. `entry`: the file that this command was started from. */
export async function demo(wishes: DemoWishes, entry: string): Promise<number> {
  const begunAt = Date.now();
  const stage = openStage();
  try {
    const world = await raise(stage, wishes, entry);
    const { url, token } = world.client;
    const seconds = Math.round((Date.now() - begunAt) / 1_000);
    // Standard output is for the figures alone where a program reads them.
    (wishes.json ? process.stderr : process.stdout).write(
      welcome({
        url,
        token,
        seconds,
        queues: world.courses.map(({ repository: { repo } }) => `${repo.owner}/${repo.name}`),
        isOwnDatabase: wishes.database === null,
        // In a checkout nothing is installed as a command.
        command: entry.endsWith('.ts') ? 'bin/signalbox.js' : 'npx signalbox',
      }),
    );
    await play(world, wishes);
    if (stage.failure !== null) throw new Error(stage.failure);
    report(world, wishes);
    return stage.isInterrupted && wishes.exit ? exitCodes.interrupted.code : 0;
  } catch (error) {
    if (stage.isInterrupted) return wishes.exit ? exitCodes.interrupted.code : 0;
    process.stderr.write(`${stage.failure ?? (error instanceof Error ? error.message : String(error))}\n`);
    return exitCodes.refused.code;
  } finally {
    await stage.close();
  }
}

/** Everything up to the moment at which the team begins. */
async function raise(stage: Stage, wishes: DemoWishes, entry: string): Promise<World> {
  const { home, signal } = stage;
  await checkGit();
  const port = await choosePort(wishes.port);
  // In a database of somebody's own an earlier demo may have left an organization.
  const organization = wishes.database === null ? 'demo' : `demo-${randomBytes(3).toString('hex')}`;
  const token = `demo-${randomBytes(18).toString('hex')}`;
  const databaseUrl = wishes.database ?? (await raiseDatabase(stage));
  signal.throwIfAborted();
  const service = await startService({ entry, home, port, databaseUrl, organization, token, signal });
  stage.add(service, () => `Signalbox ended by itself:\n${service.lastWords()}`);
  const client = createDemoClient(service.url, token, organization);
  const courses = [];
  for (const repository of repositoriesOf(wishes))
    courses.push(await setUp(client, repository, join(home, 'data', 'sandbox', 'main')));
  const { seed, speed, flakes: flakeRate } = wishes;
  return { client, seed, speed, flakeRate, courses, signal, end: stage.end, onProblem: stage.onProblem };
}

async function raiseDatabase(stage: Stage): Promise<string> {
  const binaries = findBinaries();
  if (binaries === null)
    throw new Error(
      'The PostgreSQL of the demo is not installed: it is an optional dependency, and there is none for every machine. Install with optional dependencies (npm install --include=optional), or name a database that the demo may use: signalbox demo --database postgresql://user:password@localhost:5432/name',
    );
  const database = await startDatabase(binaries, stage.home, await anyPort());
  stage.add(database, () => 'PostgreSQL ended by itself. Is there room in the temporary folder?');
  return database.url;
}

/** `--set` is for the first queue. */
const repositoriesOf = ({ queues, settings }: DemoWishes): readonly DemoRepository[] =>
  demoRepositories
    .slice(0, queues)
    .map((repository, index) =>
      index === 0 ? { ...repository, settings: { ...repository.settings, ...settings } } : repository,
    );

/** Until a signal, until a part fails, or until all has ended if that was asked for. */
async function play(world: World, { pullRequests, exit }: DemoWishes): Promise<void> {
  const { courses, signal } = world;
  const begunAt = Date.now();
  const endStatusLine = startStatusLine(process.stderr, () =>
    statusLine(courses, Math.round((Date.now() - begunAt) / 1_000)),
  );
  const background = Promise.all([runCi(world), watchTeam(world)]);
  try {
    await (pullRequests === null ? openForEver(world) : openSome(world, pullRequests));
    const isOver = () => exit && courses.every(({ live }) => live.size === 0);
    while (!isOver()) await sleep(100, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    endStatusLine();
    world.end();
    await background;
  }
}

/** In a queue at once, where the team goes on without end. */
const lineMax = 20;

async function openForEver(world: World): Promise<void> {
  const plans = world.courses.map(({ repository }) => changesOf(repository, world.seed));
  await Promise.all(plans.map((plan) => openPullRequests(world, plan, lineMax)));
}

/** Each at its time, whatever the queue makes of it: runs with other settings are to be compared. */
async function openSome(world: World, count: number): Promise<void> {
  const repositories = world.courses.map(({ repository }) => repository);
  await openPullRequests(world, take(changesOfAll(repositories, world.seed), count));
}

function* take(changes: Iterable<PlannedChange>, count: number): Generator<PlannedChange> {
  let taken = 0;
  if (count > 0)
    for (const change of changes) {
      yield change;
      taken += 1;
      if (taken === count) return;
    }
}

function report({ courses, seed, speed }: World, { json }: DemoWishes): void {
  const queues = courses.map(figuresOf);
  if (json) printJson({ seed, speed, queues });
  else printLines(queues.map(lineOf));
}
