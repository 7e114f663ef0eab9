// Which checks a run must pass: the queue's own list; else the repository's file, read off the commits under test; else
// what the host's branch protection requires. Read when a run starts, and fixed for it.

import { parse } from 'yaml';
import { z } from 'zod';
import type { FailedReason } from '#core/queue/reason.ts';
import type { QueueAtHost } from '#db/host-view.ts';
import type { BuiltRun } from '#db/run-store.ts';
import type { Place } from './at-host.ts';

const repositoryFile = '.signalbox.yaml';

type Required =
  | { readonly kind: 'known'; readonly names: readonly string[]; readonly source: BuiltRun['source'] }
  | { readonly kind: 'unknown'; readonly why: FailedReason };

const FileShape = z.looseObject({
  merge: z
    .looseObject({ required_statuses: z.array(z.string().min(1).max(255)).max(100).optional() })
    .nullish(),
});

export async function requiredChecks(
  { queue, repository }: QueueAtHost,
  { host, mirror }: Place,
  sha: string,
): Promise<Required> {
  const own = queue.settings.requiredStatuses;
  if (own !== null) return { kind: 'known', names: own, source: 'queue' };
  const text = await mirror.readFile(sha, repositoryFile);
  const fromFile = text === null ? null : parseFile(text);
  if (fromFile !== null) return fromFile;
  const names = await host.readRequiredChecks(repository, queue.targetBranch);
  return names === null
    ? { kind: 'unknown', why: 'START_TEST_RUN_NO_REQUIRED_STATUSES' }
    : { kind: 'known', names, source: 'branch_protection' };
}

/** Null if the file says nothing about it. */
export function parseFile(text: string): Required | null {
  let content: unknown;
  try {
    // No more aliases than a person writes: a file cannot make itself large.
    content = parse(text, { maxAliasCount: 100 });
  } catch {
    return { kind: 'unknown', why: 'START_TEST_RUN_CONFIG_PARSING_FAILURE' };
  }
  if (content === null || content === undefined) return null;
  const file = FileShape.safeParse(content);
  if (!file.success) return { kind: 'unknown', why: 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES' };
  const names = file.data.merge?.required_statuses;
  return names === undefined ? null : { kind: 'known', names, source: 'repository_file' };
}
