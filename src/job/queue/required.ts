// Reads the required checks of a run, by the rules of core/queue/rule.ts: when the run starts, and again
// before it lands.

import { repositoryFileName, requiredStatusesIn } from '#config/repository-file.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import {
  bindSources,
  type FileRules,
  type RuleChange,
  ruleChange,
  type Rules,
  rulesFor,
} from '#core/queue/rule.ts';
import type { QueueAtHost } from '#db/host/host-view.ts';
import { GitError } from '#git/error.ts';
import type { HostSession } from '../at-host.ts';

/** The `.signalbox.yaml` of a commit. A file that is too large to be read counts as one that is not YAML. */
async function fileRules({ mirror }: Pick<HostSession, 'mirror'>, sha: string): Promise<FileRules> {
  try {
    const text = await mirror.readFile(sha, repositoryFileName);
    return text === null ? { kind: 'unsaid' } : await requiredStatusesIn(text);
  } catch (error) {
    if (error instanceof GitError && error.kind === 'failed') return { kind: 'no-yaml' };
    throw error;
  }
}

export type Commits = {
  /** The target branch, as the commit under test continues it. */
  readonly base: string;
  readonly candidate: string;
  /** Answers of the host from before this instant (`performance.now()`) do not count. Absent: they do. */
  readonly asOf?: number | undefined;
};

/** The rules without the sources that only the branch shows. */
export async function readRules(
  { queue, repository }: QueueAtHost,
  place: HostSession,
  { base, candidate, asOf }: Commits,
): Promise<Rules> {
  const own = queue.settings.requiredStatuses;
  if (own !== null)
    return rulesFor({ own, protection: [], base: { kind: 'unsaid' }, candidate: { kind: 'unsaid' } });
  return rulesFor({
    own,
    protection: (await place.host.readRequiredChecks(repository, queue.targetBranch, { asOf })) ?? [],
    base: await fileRules(place, base),
    candidate: await fileRules(place, candidate),
  });
}

/**
 * The rules with the source of each check: the one that the host binds, else the one that reports it on the
 * branch, else the one that reported it for the last landing (a commit that the host itself merged may have
 * no report).
 */
export async function requiredChecks(
  work: QueueAtHost,
  place: HostSession,
  commits: Commits,
  reportsOn: BranchReports,
): Promise<Rules> {
  const rules = await readRules(work, place, commits);
  if (rules.kind !== 'known' || rules.checks.every(isBound)) return rules;
  const key = JSON.stringify([work.queue.id, rules.checks]);
  const checks = await boundChecks.load(key, async () =>
    bindSources(rules.checks, ...(await reportsOn(commits.base))),
  );
  return { ...rules, checks };
}

const isBound = ({ source }: RequiredCheck): boolean => source !== null;

/**
 * Every landing creates a new commit, and the source of a check hardly ever changes: while every check of the
 * queue has a source, the host is not read again for some minutes. A check that was never reported is looked
 * up each time.
 */
const sourcesKeptMs = 5 * 60_000;
const boundChecks = createTtlCache<readonly RequiredCheck[]>({
  max: 10_000,
  ttlMs: (checks) => (checks.every(isBound) ? sourcesKeptMs : 0),
});

/** The evidence of who reports a check on the branch at a commit; the strongest first. */
export type BranchReports = (base: string) => Promise<readonly (readonly Check[])[]>;

/** The host is read once for each commit. */
export function branchReports(
  { repository }: QueueAtHost,
  { host }: HostSession,
  lastLanded: readonly Check[],
): BranchReports {
  const kept = new Map<string, Promise<readonly Check[]>>();
  return async (base) => {
    const checks = kept.get(base) ?? host.readChecks(repository, base);
    kept.set(base, checks);
    return [await checks, lastLanded];
  };
}

/** The changes that each of these pull requests makes to the file, in their order. */
export async function ruleChanges(
  place: Pick<HostSession, 'mirror'>,
  base: string,
  commits: readonly { readonly number: number; readonly sha: string }[],
): Promise<readonly RuleChange[]> {
  const text = (sha: string) => place.mirror.readFile(sha, repositoryFileName).catch(() => null);
  const last = commits.at(-1);
  // Hardly any pull request touches the file.
  if (last === undefined || (await text(base)) === (await text(last.sha))) return [];
  const changes: RuleChange[] = [];
  let before = await fileRules(place, base);
  for (const { number, sha } of commits) {
    const after = await fileRules(place, sha);
    const change = ruleChange(number, before, after);
    if (change !== null) changes.push(change);
    before = after;
  }
  return changes;
}
