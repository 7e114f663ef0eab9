// After a push: pull requests follow their heads, close with them, and are merged when their base contains them.
//
//   a head moved            synchronize; a head that says nothing new any more closes the pull request
//   a head was deleted      closed
//   a base contains a head  merged, whoever pushed it and however it was made
//   a base was deleted      closed

import type { RefUpdate } from '#host/host.ts';
import { accountOf } from './auth.ts';
import { borrow, contains } from './bare.ts';
import { renewTestMerge } from './mergeable.ts';
import { reviewDemands } from './policy.ts';
import { standingReviews } from './review-rule.ts';
import { requestSuite } from './check.ts';
import { pushPayload } from './json/push.ts';
import {
  fullNameOf,
  isPullOpen,
  type Principal,
  type PullRequest,
  type Repository,
  type Site,
} from './model.ts';
import { announcePull, closePull, dismissReviews, mergedPull, noteEvent } from './pull.ts';

export function movedSince(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly RefUpdate[] {
  const refs = new Set([...before.keys(), ...after.keys()]);
  return [...refs].flatMap((ref) => {
    const from = before.get(ref) ?? null;
    const to = after.get(ref) ?? null;
    return from === to ? [] : [{ ref, from, to }];
  });
}

const branchOf = (ref: string): string | null =>
  ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null;

const none = '0'.repeat(40);

/** To be called in the repository's turn. */
export async function noticePush(
  site: Site,
  repository: Repository,
  updates: readonly RefUpdate[],
  principal: Principal,
): Promise<void> {
  if (updates.length === 0) return;
  const by = accountOf(principal);
  repository.pushedAt = site.clock.now();
  // Branches that moved come before those that went: a head that was merged and deleted in one push was merged.
  for (const update of updates.toSorted((a, b) => Number(a.to === null) - Number(b.to === null))) {
    site.announce(repository, 'push', null, by, await pushPayload(site, repository, update, by));
    const branch = branchOf(update.ref);
    if (branch === null) continue;
    const { ref, from, to } = update;
    const at = site.clock.now();
    repository.activities.push({ id: site.nextId(), before: from ?? none, after: to ?? none, ref, at, by });
    await moveBases(site, repository, branch, update, principal);
    await moveHeads(site, repository, branch, update, principal);
    if (update.to !== null)
      await requestSuite(site, repository, { branch, before: update.from, sha: update.to });
    const { from: before, to: after } = update;
    const push = {
      repository: fullNameOf(repository),
      directory: repository.directory,
      branch,
      before,
      after,
      by: by.login,
    };
    for (const listener of site.pushListeners) site.inBackground(Promise.resolve(push).then(listener));
  }
}

async function moveBases(
  site: Site,
  repository: Repository,
  branch: string,
  { to }: RefUpdate,
  principal: Principal,
): Promise<void> {
  const pulls = [...repository.pulls.values()].filter((pull) => isPullOpen(pull) && pull.baseRef === branch);
  for (const pull of pulls) {
    if (to === null) await closePull(site, repository, pull, principal);
    else if (await contains(repository.directory, pull.headSha, to))
      await mergedPull(site, repository, pull, principal, to);
  }
}

/** Pull requests that a repository's branches are heads of: its own, and those of what it was forked from. */
async function moveHeads(
  site: Site,
  repository: Repository,
  branch: string,
  { from, to }: RefUpdate,
  principal: Principal,
): Promise<void> {
  const homes = repository.parent === null ? [repository] : [repository, repository.parent];
  for (const home of homes)
    for (const pull of home.pulls.values()) {
      if (!isPullOpen(pull) || pull.headRepository !== repository || pull.headRef !== branch) continue;
      if (to === null) {
        noteEvent(site, home, pull, 'head_ref_deleted', principal);
        await closePull(site, home, pull, principal);
      } else await moveHead(site, home, pull, from, to, principal);
    }
}

async function moveHead(
  site: Site,
  home: Repository,
  pull: PullRequest,
  from: string | null,
  to: string,
  principal: Principal,
): Promise<void> {
  const before = pull.headSha;
  await borrow(home.directory, pull.headRepository.directory, to, `refs/pull/${pull.number}/head`);
  pull.headSha = to;
  pull.updatedAt = site.clock.now();
  pull.lastPush = { by: accountOf(principal), at: pull.updatedAt };
  await renewTestMerge(site, home, pull);
  if (from !== null && !(await contains(home.directory, from, to)))
    noteEvent(site, home, pull, 'head_ref_force_pushed', principal);
  await announcePull(site, home, pull, 'synchronize', principal, { before, after: to });
  dismissStale(site, home, pull, principal);
  if (await contains(home.directory, to, `refs/heads/${pull.baseRef}`))
    await closePull(site, home, pull, principal);
}

/** "Available rules for rulesets": approvals are dismissed when commits are pushed that change the diff. */
function dismissStale(site: Site, home: Repository, pull: PullRequest, principal: Principal): void {
  if (!reviewDemands(home, pull.baseRef).some((demand) => demand.dismissStale)) return;
  for (const { state, by } of standingReviews(pull))
    if (state === 'approved') dismissReviews(site, home, pull, by, principal);
}
