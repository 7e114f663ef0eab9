// The mirrors on the disk of this worker: their size, when each was last used and tidied, and which must be
// removed.
//
// Both times are those of files inside a mirror, so that they survive the process, and so that several
// processes can share the folder.

import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type MirrorOnDisk = { readonly path: string; readonly bytes: number; readonly usedAt: number };

/** The share of the volume's free space and the mirrors together that mirrors may take by default. */
const shareOfVolume = 0.7;

type Mark = 'signalbox-used' | 'signalbox-tidied';

/** Null if it was never set. */
export async function markedAt(mirror: string, mark: Mark): Promise<number | null> {
  return (await stat(join(mirror, mark)).catch(() => null))?.mtimeMs ?? null;
}

export async function setMark(mirror: string, mark: Mark): Promise<void> {
  const file = join(mirror, mark);
  const now = new Date();
  await utimes(file, now, now).catch(() => writeFile(file, ''));
}

/** The mirrors in a folder. A mirror that was renamed for removal but not removed is removed now. */
export async function listMirrors(directory: string): Promise<readonly MirrorOnDisk[]> {
  const names = await readdir(directory).catch(() => []);
  const mirrors: MirrorOnDisk[] = [];
  for (const name of names) {
    const path = join(directory, name);
    if (name.endsWith(removedSuffix)) await rm(path, { recursive: true, force: true });
    if (!name.endsWith('.git') || (await isLink(path)) || !existsSync(join(path, 'HEAD'))) continue;
    const usedAt = (await markedAt(path, 'signalbox-used')) ?? 0;
    mirrors.push({ path, bytes: await bytesIn(path), usedAt });
  }
  return mirrors;
}

/** Whether it is a link from the former name of a mirror; a dangling link is removed. */
async function isLink(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSymbolicLink() !== true) return false;
  if (!existsSync(path)) await rm(path, { force: true });
  return true;
}

/** The size of its files. A file that is removed meanwhile counts as zero. */
export async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesIn(path);
    else bytes += (await stat(path).catch(() => null))?.size ?? 0;
  }
  return bytes;
}

export async function packsIn(mirror: string): Promise<number> {
  const names = await readdir(join(mirror, 'objects', 'pack')).catch(() => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}

/** The disk budget of mirrors, given what they take now. */
export async function computeDiskBudget(directory: string, taken: number): Promise<number> {
  await mkdir(directory, { recursive: true });
  const { bavail, bsize } = await statfs(directory);
  return Math.floor((taken + bavail * bsize) * shareOfVolume);
}

/**
 * The mirrors to remove so that the rest fits, least recently used first, and whether it then fits. A mirror
 * that is in use stays, however large it is.
 */
export function mirrorsToRemove(
  mirrors: readonly MirrorOnDisk[],
  budgetBytes: number,
  isInUse: (mirror: MirrorOnDisk) => boolean,
): { readonly remove: readonly MirrorOnDisk[]; readonly fits: boolean } {
  let rest = mirrors.reduce((sum, { bytes }) => sum + bytes, 0);
  const remove: MirrorOnDisk[] = [];
  for (const mirror of mirrors.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (rest <= budgetBytes) break;
    if (isInUse(mirror)) continue;
    remove.push(mirror);
    rest -= mirror.bytes;
  }
  return { remove, fits: rest <= budgetBytes };
}

const removedSuffix = '.removed';

/** Renamed first, so that a mirror is never found half removed. */
export async function removeMirror(path: string): Promise<void> {
  const aside = `${path}.${Date.now()}${removedSuffix}`;
  await rename(path, aside);
  await rm(aside, { recursive: true, force: true });
}
