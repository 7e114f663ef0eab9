import { HostError } from '#host/host.ts';
import { expect, it } from 'vitest';
import { widgets } from '../host-contract/github-fixture.ts';
import { openGithubQueue } from './github-queue.ts';

type Queue = Awaited<ReturnType<typeof openGithubQueue>>;

/** Two pull requests that are tested together. */
async function twoTested(queue: Queue) {
  const one = await queue.propose('one');
  const two = await queue.propose('two');
  await queue.submit(one.number);
  await queue.submit(two.number);
  return { one, two };
}

const together = { batch: true, batchingMinSize: 2, mergeMethod: 'squash' };

it('lands a batch by GitHub’s merge call, each member with the tree that was tested', async () => {
  const queue = await openGithubQueue(together);
  const { one, two } = await twoTested(queue);
  await queue.pass();
  expect([await queue.state(one.number), await queue.state(two.number)]).toEqual(['merged', 'merged']);
  const { landedTreeSha, testedTreeSha, landingMode, proof } = await queue.landing(two.number);
  expect([landedTreeSha, landingMode, proof]).toEqual([testedTreeSha, 'host', 'exact']);
  expect(queue.server.pullRequest(widgets, two.number).merged).not.toBeNull();
  // Its status check leads to its page on the dashboard.
  const { token } = queue.server.newUser('grace');
  const sha = queue.server.pullRequest(widgets, two.number).headSha;
  const answer = await fetch(`${queue.server.url}/api/v3/repos/${widgets}/commits/${sha}/check-runs`, {
    headers: { authorization: `token ${token}` },
  });
  const { check_runs: runs } = (await answer.json()) as {
    check_runs: { name: string; details_url: string }[];
  };
  const own = runs.find(({ name }) => name === 'Signalbox (main)');
  expect(own?.details_url).toMatch(
    new RegExp(`/app/pull-request\\?repo=.*&branch=main&number=${two.number}$`),
  );
});

it('is the only way in where updates of the branch are restricted to the App', async () => {
  const queue = await openGithubQueue({ mergeMethod: 'squash' });
  const { server } = queue;
  const parameters = { update_allows_fetch_and_merge: false };
  server.addRuleset(widgets, { rules: [{ type: 'update', parameters }], bypassApps: [server.appId] });
  const { number } = await queue.propose('one');
  const { token } = server.newUser('grace');
  server.setAccess(widgets, 'grace', 'admin');
  const byHand = await fetch(`${server.url}/api/v3/repos/${widgets}/pulls/${number}/merge`, {
    method: 'PUT',
    headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ merge_method: 'squash' }),
  });
  expect(byHand.status).toBe(405);
  await queue.submit(number);
  await queue.pass();
  expect(await queue.state(number)).toBe('merged');
});

it('closes the drafts of test branches before it pushes, so that GitHub shows none of them as merged', async () => {
  const queue = await openGithubQueue({
    mergeMethod: 'merge_commit',
    landingMode: 'fast_forward',
    createPrsForTestingBranches: true,
  });
  const one = await queue.propose('one');
  await queue.submit(one.number);
  const draft = queue.server.pullRequest(widgets, one.number + 1);
  expect(draft).toMatchObject({ state: 'open', draft: true });
  await queue.pass();
  expect(await queue.state(one.number)).toBe('merged');
  expect(queue.server.pullRequest(widgets, one.number).merged).not.toBeNull();
  expect(queue.server.pullRequest(widgets, draft.number)).toMatchObject({ state: 'closed', merged: null });
});

it('stops at the member before which somebody pushed, at GitHub too', async () => {
  const queue = await openGithubQueue(together);
  const { one, two } = await twoTested(queue);
  let merges = 0;
  queue.calls.after = async (call) => {
    if (call !== 'merge') return;
    merges += 1;
    if (merges === 1)
      await queue.server.commit(widgets, { branch: 'main', files: { 'foreign.txt': 'x' }, by: 'grace' });
  };
  await queue.pass();
  expect(await queue.state(one.number)).toBe('merged');
  expect(['testing', 'pending']).toContain(await queue.state(two.number));
  expect(merges).toBe(1);
  expect(queue.server.pullRequest(widgets, two.number).merged).toBeNull();
});

it.each([
  [
    'changes are requested',
    ({ server }: Queue, number: number) => {
      server.review(widgets, number, 'grace', 'changes_requested');
    },
  ],
  [
    'an approval is dismissed',
    ({ server }: Queue, number: number) => {
      server.review(widgets, number, 'grace', 'dismissed');
    },
  ],
  [
    'a conversation is begun',
    ({ server }: Queue, number: number) => {
      server.startThread(widgets, number, 'grace');
    },
  ],
  [
    'it is made a draft',
    ({ server }: Queue, number: number) => server.changePullRequest(widgets, number, { draft: true }),
  ],
  [
    'it is closed',
    ({ server }: Queue, number: number) => server.changePullRequest(widgets, number, { state: 'closed' }),
  ],
  [
    'its base is changed',
    async ({ server }: Queue, number: number) => {
      await server.setBranch(widgets, 'other', server.pullRequest(widgets, number).headSha);
      await server.changePullRequest(widgets, number, { base: 'other' });
    },
  ],
] as const)('does not push what may not be merged any more: %s', async (_what, happen) => {
  const queue = await openGithubQueue({ mergeMethod: 'merge_commit' });
  const { server } = queue;
  const { number } = await queue.propose('one');
  server.approve(widgets, number, 'grace');
  // The App may bypass: GitHub itself would not object to the push.
  server.addRuleset(widgets, {
    rules: [
      {
        type: 'pull_request',
        parameters: {
          required_approving_review_count: 1,
          dismiss_stale_reviews_on_push: false,
          require_code_owner_review: false,
          require_last_push_approval: false,
          required_review_thread_resolution: true,
        },
      },
    ],
    bypassApps: [server.appId],
  });
  await queue.submit(number);
  expect(await queue.state(number)).toBe('testing');
  const before = await queue.tip();
  let isDone = false;
  queue.calls.before = async (call) => {
    // The last look before the push.
    if (call !== 'readPullRequest' || isDone) return;
    isDone = true;
    await happen(queue, number);
  };
  await queue.pass();
  expect(isDone).toBe(true);
  expect(await queue.state(number)).not.toBe('merged');
  expect(await queue.tip()).toBe(before);
  expect(server.pullRequest(widgets, number).merged).toBeNull();
});

it('closes what was squashed and pushed, with a comment that names the commit, once', async () => {
  const queue = await openGithubQueue({ mergeMethod: 'squash', landingMode: 'fast_forward' });
  const { server } = queue;
  const { number } = await queue.propose('one');
  await queue.submit(number);
  // The first attempt ends after the comment.
  let crashes = 0;
  queue.calls.after = (call) => {
    if (call !== 'writeComment' || crashes > 0) return;
    crashes += 1;
    throw new Error('killed');
  };
  await queue.pass();
  for (let turn = 0; turn < 3; turn += 1) await queue.settle();
  expect(await queue.state(number)).toBe('merged');
  const pull = server.pullRequest(widgets, number);
  expect([pull.state, pull.merged]).toEqual(['closed', null]);
  const { landedSha } = await queue.landing(number);
  const comments = await queue.comments(number);
  expect(comments.filter((body) => body.includes(`as commit ${landedSha}`))).toHaveLength(1);
});

it('lands and closes what was squashed and pushed while no comment can be written', async () => {
  const queue = await openGithubQueue({ mergeMethod: 'squash', landingMode: 'fast_forward' });
  const { number } = await queue.propose('one');
  await queue.submit(number);
  queue.calls.before = (call) => {
    if (call === 'writeComment') throw new HostError('rate_limited', 'Too much content.');
  };
  await queue.pass();
  await queue.settle();
  expect(await queue.state(number)).toBe('merged');
  expect(queue.server.pullRequest(widgets, number).state).toBe('closed');
  expect((await queue.queue()).isHostAway).toBe(false);
});

it('shows GitHub’s own words where it refuses to merge', async () => {
  const queue = await openGithubQueue({ mergeMethod: 'squash' });
  const { server } = queue;
  const { number } = await queue.propose('one');
  await queue.submit(number);
  server.protect(widgets, 'main', { checks: { strict: false, contexts: ['pr/only'] }, enforceAdmins: true });
  await queue.pass();
  expect((await queue.see(number)).conclusionReason).toBe('MERGE_REFUSED_BY_HOST');
  for (let turn = 0; turn < 3; turn += 1) await queue.settle();
  expect((await queue.comments(number)).join('\n')).toMatch(/The Git host answered: `.*pr\/only.*`/);
});

const shown = { mergeMethod: 'squash', landingMode: 'fast_forward', showAsMerged: true };

it('shows what was squashed and pushed as merged, each member of a batch by its own commit', async () => {
  const queue = await openGithubQueue({ ...shown, ...together });
  const { one, two } = await twoTested(queue);
  // The first attempt ends after the first head was pushed.
  let crashes = 0;
  queue.calls.after = (call) => {
    if (call !== 'git push' || crashes > 0) return;
    crashes += 1;
    throw new Error('killed');
  };
  await queue.pass();
  for (let turn = 0; turn < 3; turn += 1) await queue.settle();
  expect([await queue.state(one.number), await queue.state(two.number)]).toEqual(['merged', 'merged']);
  const { members, landedTreeSha, testedTreeSha, landingMode } = await queue.landing(two.number);
  expect([landedTreeSha, landingMode]).toEqual([testedTreeSha, 'fast_forward']);
  for (const { prNumber, landedSha } of members) {
    const pull = queue.server.pullRequest(widgets, prNumber);
    expect([pull.state, pull.headSha, pull.merged === null]).toEqual(['closed', landedSha, false]);
  }
});

it('puts the head back where the branch moved meanwhile, and does not take that for a push', async () => {
  const queue = await openGithubQueue(shown);
  const { server } = queue;
  const { number, headSha } = await queue.propose('one');
  await queue.submit(number);
  let isPushed = false;
  queue.calls.after = async (call) => {
    if (call !== 'git push' || isPushed) return;
    isPushed = true;
    await server.commit(widgets, { branch: 'main', files: { 'foreign.txt': 'x' }, by: 'grace' });
  };
  await queue.pass();
  queue.calls.after = () => undefined;
  await queue.settle();
  expect(server.pullRequest(widgets, number).headSha).toBe(headSha);
  expect(await queue.state(number)).toBe('testing');
  await queue.pass();
  expect(await queue.state(number)).toBe('merged');
  expect(server.pullRequest(widgets, number).merged).not.toBeNull();
});
