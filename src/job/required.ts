// Which checks a run must pass: the queue's own list; else the repository's file, read off the commits under test; else
// what the host's branch protection requires. Read when a run starts, and fixed for it.

import { repositoryFileName, requiredStatusesIn } from '#config/repository-file.ts';
import type { RequiredCheck } from '#core/queue/check.ts';
import type { FailedReason } from '#core/queue/reason.ts';
import type { QueueAtHost } from '#db/host-view.ts';
import type { BuiltRun } from '#db/run-store.ts';
import type { Place } from './at-host.ts';

type Required =
  | { readonly kind: 'known'; readonly checks: readonly RequiredCheck[]; readonly source: BuiltRun['source'] }
  | { readonly kind: 'unknown'; readonly why: FailedReason };

const unbound = (names: readonly string[]): readonly RequiredCheck[] =>
  names.map((name) => ({ name, source: null }));

export async function requiredChecks(
  { queue, repository }: QueueAtHost,
  { host, mirror }: Place,
  sha: string,
): Promise<Required> {
  const own = queue.settings.requiredStatuses;
  if (own !== null) return { kind: 'known', checks: unbound(own), source: 'queue' };
  const text = await mirror.readFile(sha, repositoryFileName);
  const fromFile = text === null ? null : parseFile(text);
  if (fromFile !== null) return fromFile;
  const checks = await host.readRequiredChecks(repository, queue.targetBranch);
  return checks === null
    ? { kind: 'unknown', why: 'START_TEST_RUN_NO_REQUIRED_STATUSES' }
    : { kind: 'known', checks, source: 'branch_protection' };
}

/** Null if the file says nothing about it. */
export function parseFile(text: string): Required | null {
  const part = requiredStatusesIn(text);
  switch (part.kind) {
    case 'no-yaml':
      return { kind: 'unknown', why: 'START_TEST_RUN_CONFIG_PARSING_FAILURE' };
    case 'invalid':
      return { kind: 'unknown', why: 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES' };
    case 'unsaid':
      return null;
    case 'said':
      return { kind: 'known', checks: unbound(part.value), source: 'repository_file' };
  }
}
