// Mirrors stay within a disk budget. When they exceed it, the least recently used are removed, but never one
// that a job uses. A removed mirror is fetched again when it is needed. Each mirror is tidied once a day, or
// every three hours if it has many packs, however much it is used, and one after the other: tidying keeps a
// processor busy.

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { dayMs, hourMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import type { GitRemote } from '#host/host.ts';
import {
  computeDiskBudget,
  listMirrors,
  markedAt,
  mirrorsToRemove,
  packsIn,
  removeMirror,
  setMark,
} from './mirror-disk.ts';

const tidyMs = dayMs;
/**
 * A partial mirror gets a pack or two with each fetch, and git searches every pack: above this number it is
 * tidied earlier.
 */
const packsMax = 500;
const tidyManyMs = 3 * hourMs;
/** Another process with the same folder may still use a mirror that was used within this time. */
const usedElsewhereMs = 900_000;

/** A mirror of this process. */
export type OpenMirror = {
  readonly repositoryId: RepositoryId;
  readonly path: string;
  readonly mirror: Promise<Mirror>;
  /** The latest one, with the current credentials. */
  remote: () => Promise<GitRemote>;
  /** Jobs that use it now. */
  users: number;
  /** Whether its first fetch is running, which belongs to no job. */
  isFetching: () => boolean;
  /** When its last use was written to disk, in milliseconds. */
  markedAt: number;
};

/** The mirrors of this process by their paths, and those that are being removed from the disk. */
export type Opened = {
  readonly kept: Map<string, OpenMirror>;
  readonly removing: Map<string, Promise<void>>;
};

type Upkeep = {
  readonly budgetBytes?: number | null;
  readonly log?: Log;
  readonly reports?: { readonly removed: (repositoryId: RepositoryId) => void };
};

const isInUse = (kept: OpenMirror): boolean => kept.users > 0 || kept.isFetching();

export async function forget(opened: Opened, kept: OpenMirror): Promise<void> {
  if (opened.kept.get(kept.path) === kept) opened.kept.delete(kept.path);
  const mirror = await kept.mirror.catch(() => undefined);
  await mirror?.close();
}

export async function maintainMirrors(directory: string, opened: Opened, upkeep: Upkeep): Promise<void> {
  const { budgetBytes, log } = upkeep;
  for (const kept of opened.kept.values()) await tidyDaily(kept, log);
  const mirrors = await listMirrors(directory);
  const taken = mirrors.reduce((sum, { bytes }) => sum + bytes, 0);
  const budget = budgetBytes ?? (await computeDiskBudget(directory, taken));
  const { remove, fits } = mirrorsToRemove(mirrors, budget, ({ path, usedAt }) => {
    const kept = opened.kept.get(path);
    return kept === undefined ? Date.now() - usedAt < usedElsewhereMs : isInUse(kept);
  });
  for (const { path, bytes } of remove) {
    const kept = opened.kept.get(path);
    // A job may have started to use it while another mirror was removed.
    if (kept !== undefined && isInUse(kept)) continue;
    await discardMirror(opened, path, upkeep.reports);
    const fields = { mirror: basename(path), bytes, taken, budget };
    log?.info(fields, 'mirrors exceed their disk budget, removed the least recently used');
  }
  if (!fits) log?.warn({ taken, budget }, 'mirrors exceed their disk budget, all are in use');
}

/** A job that opens the mirror from now on waits until it is removed. */
export async function discardMirror(opened: Opened, path: string, reports: Upkeep['reports']): Promise<void> {
  const kept = opened.kept.get(path);
  const remove = async () => {
    if (kept !== undefined) await forget(opened, kept);
    if (existsSync(path)) await removeMirror(path);
  };
  const removal = remove().finally(() => opened.removing.delete(path));
  opened.removing.set(path, removal);
  await removal;
  if (kept !== undefined) reports?.removed(kept.repositoryId);
}

/** The disk is full. One mirror is removed at a time: the next failure removes another. */
export async function makeRoom(directory: string, opened: Opened, upkeep: Upkeep): Promise<void> {
  const mirrors = await listMirrors(directory);
  const idle = mirrors.filter(({ path, usedAt }) => {
    const kept = opened.kept.get(path);
    return kept === undefined ? Date.now() - usedAt >= usedElsewhereMs : !isInUse(kept);
  });
  const [first] = idle.toSorted((a, b) => a.usedAt - b.usedAt);
  if (first !== undefined) await discardMirror(opened, first.path, upkeep.reports);
  upkeep.log?.warn(
    { removed: first === undefined ? null : basename(first.path), bytes: first?.bytes ?? 0 },
    'mirror disk full',
  );
}

/** Depends on the time since the last tidying, never on use. */
export const isTidyDue = (sinceMs: number, packs: number): boolean =>
  sinceMs >= (packs > packsMax ? tidyManyMs : tidyMs);

async function tidyDaily(kept: OpenMirror, log: Log | undefined): Promise<void> {
  const mirror = await kept.mirror.catch(() => null);
  if (mirror === null || !existsSync(kept.path) || !(await mirror.isWhole())) return;
  const tidiedAt = await markedAt(kept.path, 'signalbox-tidied');
  if (tidiedAt !== null && !isTidyDue(Date.now() - tidiedAt, await packsIn(kept.path))) return;
  // Marked first, so that another process with the same folder does not start too, and a failure is retried a
  // day later.
  await setMark(kept.path, 'signalbox-tidied');
  // The mirror was created today.
  if (tidiedAt === null) return;
  kept.users += 1;
  const startedAt = performance.now();
  const fields = { mirror: basename(kept.path) };
  try {
    await mirror.tidy();
    log?.info({ ...fields, ms: Math.round(performance.now() - startedAt) }, 'repacked a mirror');
  } catch (error) {
    log?.warn({ ...fields, err: error }, 'could not repack a mirror');
  } finally {
    kept.users -= 1;
  }
}
