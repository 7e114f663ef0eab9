// Runs a situation with its own database, clock and repository, and measures it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Host, HostFor } from '#host/host.ts';
import { startGithubServer } from '../../github-server/server.ts';
import type { Measured } from './audit.ts';
import { openGiteaPlace, type GiteaSite } from './gitea.ts';
import { openGithubPlace, owner } from './github.ts';
import { Broken, type HostControl, type HostKind, type Situation } from './model.ts';
import { openSandboxPlace } from './sandbox.ts';
import { situations } from './situations.ts';
import { type Interposed, openScene } from './scene.ts';
import { type Base, openWorld, type World } from './world.ts';

export type Row = {
  readonly situation: string;
  readonly host: HostKind;
  readonly must: string;
  readonly did: string;
  readonly result: 'ok' | 'BROKEN' | 'cannot';
  readonly measured: Measured;
  readonly seconds: number;
};

export type Grounds = {
  readonly base: Base;
  /** Null: the real Gitea could not be started, for this reason. */
  readonly gitea: GiteaSite | { readonly reason: string };
};

const nothing: Measured = { untested: [], decisions: [], removed: [] };

export type Task = { readonly theme: string; readonly situation: Situation; readonly kind: HostKind };

/** Every situation on each of its hosts, in order. */
export const tasksOf = (): readonly Task[] =>
  Object.entries(situations).flatMap(([theme, list]) =>
    list.flatMap((situation) =>
      [...situation.hosts, ...(Object.keys(situation.cannot ?? {}) as HostKind[])].map((kind) => ({
        theme,
        situation,
        kind,
      })),
    ),
  );

/** Runs a situation on a host. */
export async function rowOf(grounds: Grounds, { situation, kind }: Task, index: number): Promise<Row> {
  const begunAt = performance.now();
  const { name, must } = situation;
  const row = (result: Row['result'], did: string, measured = nothing): Row => ({
    situation: name,
    host: kind,
    must,
    did,
    result,
    measured,
    seconds: (performance.now() - begunAt) / 1_000,
  });
  const reason = situation.cannot?.[kind];
  if (reason !== undefined) return row('cannot', reason);
  if (kind === 'gitea' && 'reason' in grounds.gitea) return row('cannot', grounds.gitea.reason);
  const progress: Progress = { at: 'opening its world' };
  try {
    const { did, isBroken, measured } = await withinLimit(
      runOne(grounds, situation, kind, index, progress),
      progress,
    );
    const problems = [...measured.untested, ...measured.decisions, ...measured.removed];
    if (problems.length > 0) return row('BROKEN', [did, ...problems].join('; '), measured);
    return row(isBroken ? 'BROKEN' : 'ok', did, measured);
  } catch (error) {
    return row(
      'BROKEN',
      error instanceof Error
        ? `${error.message} ${(error.stack ?? '').split('\n').find((line) => line.includes('/e2e/trust/')) ?? ''}`
        : String(error),
    );
  }
}

/** What a situation is busy with, for one that does not end. */
type Progress = { at: string };

/** The longest takes half a minute on a quiet machine. */
const limitMs = 180_000;

/** One that hangs is broken, and holds up nothing else. */
async function withinLimit<T>(running: Promise<T>, progress: Progress): Promise<T> {
  const ended = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: ended.signal, ref: false }).then(() => {
    const open = [...new Set(process.getActiveResourcesInfo())].join(', ');
    throw new Error(`It did not end within ${limitMs / 1_000} s: ${progress.at} (open: ${open}).`);
  });
  try {
    return await Promise.race([running, limit]);
  } finally {
    ended.abort();
    running.catch(() => undefined);
    limit.catch(() => undefined);
  }
}

async function runOne(
  { base, gitea }: Grounds,
  situation: Situation,
  kind: HostKind,
  index: number,
  progress: Progress,
) {
  const interposed: Interposed = { on: null, after: null, counts: new Map(), isGone: false };
  const world = await openWorld(base, {
    sandbox: kind === 'sandbox',
    wrapHosts: (hostFor) => interposing(hostFor, interposed),
  });
  const name = `situation-${index}`;
  const closers: (() => Promise<void>)[] = [world.close];
  try {
    progress.at = 'opening its repository';
    const { host, close } = await openPlace(world, kind, gitea as GiteaSite, name);
    closers.push(close);
    const options = situation.set ?? {};
    if (options.webhooks === false) await host.webhooks(false);
    progress.at = 'opening its scene';
    const scene = await openScene({ world, host, interposed, options });
    progress.at = 'running';
    const outcome = await situation.run(scene).then(
      (did) => ({ did, isBroken: false }),
      (error: unknown) => {
        if (error instanceof Broken) return { did: error.message, isBroken: true };
        throw error;
      },
    );
    progress.at = 'auditing';
    await scene.audit.branch();
    const measured = await scene.audit.end(async (number) => {
      const entry = await scene.see(number);
      return entry === null ? null : { ...entry, timeline: await scene.timeline(number) };
    });
    return { ...outcome, measured };
  } finally {
    progress.at = 'closing its world';
    for (const close of closers.toReversed()) await close();
  }
}

async function openPlace(
  world: World,
  kind: HostKind,
  gitea: GiteaSite,
  name: string,
): Promise<{ readonly host: HostControl; readonly close: () => Promise<void> }> {
  switch (kind) {
    case 'sandbox':
      return { host: await openSandboxPlace(world, name), close: () => Promise.resolve() };
    case 'gitea': {
      const { url } = gitea.gitea;
      const hook = await world.connect('gitea', url, { kind: 'token', token: gitea.people.signalbox.token });
      return { host: await openGiteaPlace(gitea, name, hook), close: () => Promise.resolve() };
    }
    case 'github': {
      const limits = { perHour: 1_000_000, concurrent: 1_000, pointsPerMinute: 1_000_000 };
      const server = await startGithubServer({ owner, limits, clock: world.clock, mergeabilityMs: 1 });
      const { appId, privateKey, installationId } = server;
      const hook = await world.connect('github', server.url, {
        kind: 'github-app',
        appId,
        privateKey,
        installationId,
      });
      server.setWebhook({ ...hook, mode: 'on' });
      return { host: await openGithubPlace(server, name), close: server.stop };
    }
  }
}

/** Lets a situation act before each call of a method of the host. */
const interposing =
  (hostFor: HostFor, interposed: Interposed): HostFor =>
  (cell, name) => {
    const host = interposed.isGone ? null : hostFor(cell, name);
    return host === null ? null : (wrapped(host, interposed) as Host);
  };

function wrapped(host: Host, interposed: Interposed): object {
  const { counts } = interposed;
  return Object.fromEntries(
    Object.entries(host).map(([name, value]) => {
      if (typeof value !== 'function') return [name, value];
      const method = value as (...args: readonly unknown[]) => unknown;
      return [
        name,
        (...args: readonly unknown[]) => {
          const nth = counts.get(name) ?? 0;
          counts.set(name, nth + 1);
          // What the host answers at once must stay an answer at once.
          const before = interposed.on?.(name as keyof Host, nth);
          if (before !== undefined) return before.then(() => method(...args));
          const answer = method(...args);
          if (interposed.after === null || !(answer instanceof Promise)) return answer;
          return answer.then(async (result: unknown) => {
            await interposed.after?.(name as keyof Host, nth);
            return result;
          });
        },
      ];
    }),
  );
}
