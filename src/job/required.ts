// Reads what a run must pass, by the rules of core/queue/rule.ts: when the run starts, and again before it lands.

import { repositoryFileName, requiredStatusesIn } from '#config/repository-file.ts';
import { createShelf } from '#base/shelf.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import {
  bindSources,
  type FileRules,
  type RuleChange,
  ruleChange,
  type Rules,
  rulesFor,
} from '#core/queue/rule.ts';
import type { QueueAtHost } from '#db/host-view.ts';
import { GitError } from '#git/error.ts';
import type { Place } from './at-host.ts';

/** What `.signalbox.yaml` of a commit says. A file that is too large to be read says nothing that anybody can use. */
async function fileRules({ mirror }: Pick<Place, 'mirror'>, sha: string): Promise<FileRules> {
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
  /** What the host answered before this instant (`performance.now()`) does not count. Absent: it does. */
  readonly asOf?: number | undefined;
};

/** The rules without the sources that only the branch shows. */
export async function readRules(
  { queue, repository }: QueueAtHost,
  place: Place,
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
 * The rules with the source of each check: the one that the host binds, else the one that reports it on the branch, else
 * the one that reported it for what landed last (a commit that the host itself merged may have no report of its own).
 */
export async function requiredChecks(
  work: QueueAtHost,
  place: Place,
  commits: Commits,
  reportsOn: BranchReports,
): Promise<Rules> {
  const rules = await readRules(work, place, commits);
  if (rules.kind !== 'known' || rules.checks.every(isBound)) return rules;
  const key = JSON.stringify([work.queue.id, rules.checks]);
  const checks = await boundChecks.recall(key, async () =>
    bindSources(rules.checks, ...(await reportsOn(commits.base))),
  );
  return { ...rules, checks };
}

const isBound = ({ source }: RequiredCheck): boolean => source !== null;

/**
 * Every landing makes a commit of its own, and who reports a check hardly ever changes: while every check of the queue has
 * a source, the host is not asked again for some minutes. A check that was never reported is asked about each time.
 */
const sourcesKeptMs = 5 * 60_000;
const boundChecks = createShelf<readonly RequiredCheck[]>(
  () => performance.now(),
  (checks) => (checks.every(isBound) ? sourcesKeptMs : 0),
);

/** What shows who reports a check on the branch, at a commit of it; what counts more is first. */
export type BranchReports = (base: string) => Promise<readonly (readonly Check[])[]>;

/** The host is asked once for each commit. */
export function branchReports(
  { repository }: QueueAtHost,
  { host }: Place,
  lastLanded: readonly Check[],
): BranchReports {
  const kept = new Map<string, Promise<readonly Check[]>>();
  return async (base) => {
    const checks = kept.get(base) ?? host.readChecks(repository, base);
    kept.set(base, checks);
    return [await checks, lastLanded];
  };
}

/** What each of these pull requests changes in the file, in their order. */
export async function ruleChanges(
  place: Pick<Place, 'mirror'>,
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
