import { expect, it } from 'vitest';
import { GitError, type GitErrorKind } from '#git/error.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import { readProtectedPaths } from './head-review.ts';

/** A mirror that fails in this way when two trees are compared. */
const failing = (kind: GitErrorKind) =>
  ({ changedPaths: () => Promise.reject(new GitError(kind, 'git says so')) }) as unknown as Mirror;

it.each<GitErrorKind>(['too_much', 'failed'])(
  'takes a head for one that may change anything if git cannot compare it (%s)',
  async (kind) => {
    expect(await readProtectedPaths(failing(kind), 'a', 'b', ['ci/**'])).toEqual([
      'files that could not be compared',
    ]);
  },
);

it.each<GitErrorKind>(['damaged', 'fetching', 'no_room', 'unreachable', 'missing', 'moved', 'refused'])(
  'says nothing about a head while its mirror cannot be read (%s)',
  async (kind) => {
    await expect(readProtectedPaths(failing(kind), 'a', 'b', ['ci/**'])).rejects.toMatchObject({ kind });
  },
);
