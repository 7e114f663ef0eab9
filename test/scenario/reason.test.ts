// Every reason that the contract names is reached by a story. A reason without one does not compile.
import { expect, it } from 'vitest';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Reason } from '#core/queue/reason.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { type Story, type StoryOptions, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

/** A sentence, and what happens; it answers with the pull request that the reason is told of. */
type Tale = readonly [name: string, tell: (story: Story) => Promise<number>, options?: StoryOptions];

const submit = async ({ team }: Story, ...prs: readonly number[]) => {
  for (const pr of prs) await team.submit(pr);
};
const pairs: StoryOptions = { settings: { batch: true, batchingMinSize: 2 } };
const byHost: StoryOptions = { settings: { landingMode: 'host' } };
const rules = (text: string) => ({ files: { '.signalbox.yaml': text } });

/** A webhook reports that CI passed, as someone who knows its secret can send it. */
async function forgePass({ world, repo, ci, settle }: Story, pr: number): Promise<void> {
  const { testBranchSha: sha } = await ci.runOf(pr);
  const { id } = await ensureOrganization(world.cell.db, repo.owner, repo.owner);
  const check = { kind: 'status', name: 'ci/test', state: 'success', url: '', at: Date.now() } as const;
  await recordHostEvents(world.cell, id, [{ kind: 'check-changed', repository: repo, sha: sha!, check }]);
  await settle();
}

const queued = {
  MERGE_ITEM_NOW_READY: [
    'one that is ready enters the line',
    async (story) => {
      await submit(story, 1);
      return 1;
    },
  ],
  MANUAL_PUSH_TO_TARGET_BRANCH: [
    'somebody pushes to the branch',
    async (story) => {
      await submit(story, 1);
      await story.team.pushToMain({ 'hotfix.txt': 'now' });
      return 1;
    },
  ],
  PREREQUISITE_MERGE_ITEM_CANCELLED: [
    'one ahead is cancelled',
    async (story) => {
      await submit(story, 1, 2);
      await story.team.cancel(1);
      return 2;
    },
  ],
  PREREQUISITE_MERGE_ITEM_FAILED: [
    'one ahead fails',
    async (story) => {
      await submit(story, 1, 2);
      await story.ci.fail(1);
      return 2;
    },
  ],
  PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED: [
    'one ahead is merged by hand',
    async (story) => {
      await submit(story, 1, 2);
      await story.team.mergeByHand(1);
      return 2;
    },
  ],
  REQUIRED_STATUSES_CHANGED: [
    'the branch requires more before it lands',
    async (story) => {
      await submit(story, 1);
      await story.host.protect({ requiredChecks: ['ci/test', 'ci/lint'] });
      await story.ci.pass(1, 'ci/test');
      return 1;
    },
  ],
  REQUIRED_STATUS_NOT_CONFIRMED: [
    'a webhook reports a check that the host does not have',
    async (story) => {
      await submit(story, 1);
      await forgePass(story, 1);
      return 1;
    },
  ],
  TESTS_RESTARTED_BY_USER: [
    'somebody asks for it in a comment',
    async (story) => {
      await submit(story, 1);
      await story.command(1, { kind: 'restart', reason: 'TESTS_RESTARTED_BY_USER', actor: 'ada' });
      return 1;
    },
  ],
  TESTS_RESTARTED_BY_API_REQUEST: [
    'somebody asks for it by the API',
    async (story) => {
      await submit(story, 1);
      await story.team.restart(1);
      return 1;
    },
  ],
  SKIP_THE_LINE_INTERRUPTED: [
    'an urgent one goes ahead',
    async (story) => {
      await submit(story, 1);
      await story.team.submit(2, { priority: 'urgent' });
      return 1;
    },
  ],
  BISECTION_REQUIRED: [
    'its batch is red',
    async (story) => {
      await submit(story, 1, 2);
      await story.ci.fail(2);
      return 1;
    },
    pairs,
  ],
  BISECTION_TEST_RUN_PASSED: [
    'the culprit of its batch was another',
    async (story) => {
      await submit(story, 1, 2);
      await story.ci.fail(2);
      await story.ci.fail(1);
      return 2;
    },
    pairs,
  ],
  BATCH_TEST_RUN_PASSED: [
    'the last free slot tested it in a batch beside others that are under test',
    async (story) => {
      await submit(story, 1, 2, 3, 4, 5);
      await story.time.pass(1);
      await story.ci.pass(5);
      return 5;
    },
    { settings: { strategy: 'adaptive', concurrency: 5 } },
  ],
} as const satisfies Partial<Record<Reason, Tale>>;

const failed = {
  TEST_RUN_REQUIRED_STATUS_FAILED: [
    'its tests are red',
    async (story) => {
      await submit(story, 1);
      await story.ci.fail(1);
      return 1;
    },
  ],
  TEST_RUN_TIMEOUT: [
    'its tests run out of time twice',
    async (story) => {
      await submit(story, 1);
      await story.time.pass(11);
      await story.time.pass(11);
      return 1;
    },
    { settings: { testingTimeoutMinutes: 10 } },
  ],
  TEST_RUN_INFRASTRUCTURE_FAILED: [
    'CI never begins, nor does any of three repeats',
    async (story) => {
      await submit(story, 1);
      for (const minutes of [4, 7, 13, 25]) await story.time.pass(minutes);
      return 1;
    },
    { settings: { requiredStatuses: ['ci/test'] }, sandbox: { ci: { mode: 'manual', contexts: [] } } },
  ],
  START_TEST_RUN_MERGE_CONFLICT: [
    'it conflicts with the branch',
    async (story) => {
      await story.team.propose(1, { files: { 'same.txt': 'mine' } });
      await story.team.pushToMain({ 'same.txt': 'theirs' });
      await submit(story, 1);
      return 1;
    },
  ],
  START_TEST_RUN_NO_REQUIRED_STATUSES: [
    'nobody says what must pass',
    async (story) => {
      await story.host.protect(null);
      await submit(story, 1);
      return 1;
    },
  ],
  START_TEST_RUN_CONFIG_PARSING_FAILURE: [
    'the repository’s file is broken',
    async (story) => {
      await story.team.submit(1, rules('merge: [}'));
      await story.team.approve(1);
      return 1;
    },
  ],
  START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES: [
    'the repository’s file has no list where one belongs',
    async (story) => {
      await story.team.submit(1, rules('merge: { required_statuses: 7 }'));
      await story.team.approve(1);
      return 1;
    },
  ],
  START_TEST_RUN_RETRY_EXHAUSTED: [
    'its head can never be fetched',
    async (story) => {
      await story.team.submit(1, { sha: 'feedface00000000000000000000000000000001' });
      for (let attempt = 0; attempt < 5; attempt += 1) await story.time.pass(5);
      return 1;
    },
  ],
  START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH: [
    'the host will not have its test branch',
    async (story) => {
      const { client, repo, time } = story;
      await client.call('sandboxCommit', { repo, branch: 'signalbox', files: { 'x.txt': 'x' } });
      await submit(story, 1);
      for (let attempt = 0; attempt < 5; attempt += 1) await time.pass(5);
      return 1;
    },
  ],
  MERGE_REFUSED_BY_HOST: [
    'the host will not merge it',
    async (story) => {
      await submit(story, 1);
      await story.host.protect({ requiredChecks: ['ci/test'], refuseMerges: 'Needs a review.' });
      await story.ci.pass(1);
      return 1;
    },
    byHost,
  ],
  PR_UPDATED_AT_MERGE_TIME: [
    'it is pushed to while it lands',
    async (story) => {
      await submit(story, 1);
      story.holdBack('land');
      await story.ci.pass(1);
      await story.team.push(1);
      await story.release();
      return 1;
    },
  ],
  TEST_RUN_FAILED_BY_OPTIMIZATION: [
    'a known result of the same commits is taken for its own',
    async (story) => {
      await submit(story, 1, 2);
      await story.ci.fail(2);
      await story.ci.pass(1);
      return 2;
    },
    { settings: { ...pairs.settings, optimizationMode: 'bisection_skip_redundant_tests' } },
  ],
} as const satisfies Partial<Record<Reason, Tale>>;

const ofItself = (act: (story: Story) => Promise<unknown>) => async (story: Story) => {
  await submit(story, 1);
  await act(story);
  return 1;
};

const cancelled = {
  USER_REQUESTED: ['somebody cancels it', ofItself(({ team }) => team.cancel(1))],
  PR_CLOSED: ['it is closed', ofItself(({ team }) => team.close(1))],
  PR_PUSHED_TO: ['it is pushed to', ofItself(({ team }) => team.push(1))],
  PR_BASE_BRANCH_CHANGED: ['it is retargeted', ofItself(({ team }) => team.retarget(1, 'other'))],
  PR_CONVERTED_TO_DRAFT: ['it is made a draft', ofItself(({ team }) => team.makeDraft(1))],
  NOT_READY_TIMEOUT_EXPIRED: [
    'it was not ready for too long',
    async (story) => {
      await story.team.submit(1, { draft: true });
      await story.time.pass(61);
      return 1;
    },
    { settings: { notReadyTimeoutHours: 1 } },
  ],
  ADMIN_REQUESTED: [
    'an administrator takes it out',
    ofItself(({ command }) => command(1, { kind: 'cancel', reason: 'ADMIN_REQUESTED', actor: 'root' })),
  ],
} as const satisfies Partial<Record<Reason, Tale>>;

const merged = {
  MERGE_GRAPH_MERGE: ['its tests pass', ofItself(({ ci }) => ci.pass(1))],
  MERGE_GRAPH_DIRECT_MERGE: [
    'its own checks passed on the tip',
    async (story) => {
      const { sha } = await story.team.propose(1, { files: { 'a.txt': 'a' } });
      await story.ci.say(sha, 'ci/test', 'success');
      await submit(story, 1);
      return 1;
    },
    { settings: { directMergeMode: 'always' }, sandbox: { ciOn: 'all' } },
  ],
  MANUAL_MERGE: ['somebody merges it', ofItself(({ team }) => team.mergeByHand(1))],
} as const satisfies Partial<Record<Reason, Tale>>;

const moving: Record<keyof typeof queued, Tale> = queued;
/** It needs test reports: its story is in test/health/queue.test.ts. */
type Elsewhere = 'FLAKY_TESTS_FAILED';
const ending: Record<Exclude<Reason, keyof typeof queued | Elsewhere>, Tale> = {
  ...failed,
  ...cancelled,
  ...merged,
};

it.each(Object.entries(moving).map(([reason, tale]) => [reason, ...tale] as const))(
  '%s: %s',
  async (reason, _, tell, options) => {
    const story = await openStory(options);
    expect(await story.reasons(await tell(story))).toContain(reason);
  },
);

it.each(Object.entries(ending).map(([reason, tale]) => [reason, ...tale] as const))(
  '%s: %s',
  async (reason, _, tell, options) => {
    const story = await openStory(options);
    const pr = await tell(story);
    expect((await story.see(pr)).conclusionReason).toBe(reason);
    expect((await story.timeline(pr))[0]).toMatchObject({ reason, trip: 1 });
  },
);
