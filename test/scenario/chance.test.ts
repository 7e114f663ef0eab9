// Stories that chance tells: whatever happens in whatever order, no change that is red lands, nobody is removed for the
// failure of another, and in the end nobody is stuck. A story is told again by its seed.
import { expect, it } from 'vitest';
import { createRandom } from '#base/random.ts';
import { membersOf, type Story, type StoryOptions, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

const prs = [1, 2, 3, 4, 5, 6];
/** Whatever contains it is red. */
const red = 3;
const passes = (members: readonly number[]) => !members.includes(red);

type Step = (story: Story, pr: number, chance: () => number) => Promise<unknown>;

const lanes = [['//a'], ['//b'], ['//a', '//b'], [], 'ALL'] as const;
const pick = <Item>(items: readonly Item[], chance: () => number): Item =>
  items[Math.floor(chance() * items.length)]!;

const submit: Step = ({ team }, pr, chance) =>
  team.submit(pr, {
    priority: pick(['urgent', 'high', 'medium', 'medium', 'low'], chance),
    noBatch: chance() < 0.2,
    targets: pick(lanes, chance),
  });

/** CI answers one of the runs under way. */
const answer: Step = async ({ ci, runs }, _, chance) => {
  const open = await runs();
  if (open.length === 0) return;
  const run = pick(open, chance);
  for (const name of run.requiredStatuses)
    await ci.say(run.testBranchSha!, name, passes(membersOf(run)) ? 'success' : 'failure');
};

const steps: readonly Step[] = [
  submit,
  submit,
  submit,
  answer,
  answer,
  answer,
  answer,
  ({ team }, pr) => team.cancel(pr),
  ({ team }, pr) => team.restart(pr),
  ({ team }, pr) => team.push(pr, { [`changes/${pr}.txt`]: `${pr} again` }),
  ({ team }, pr) => team.makeDraft(pr),
  ({ team }, pr) => team.change(pr, { draft: false }),
  ({ team }, pr) => (pr === red ? Promise.resolve() : team.mergeByHand(pr)),
  ({ team }, pr, chance) => team.pushToMain({ [`by-hand/${pr}.txt`]: String(chance()) }),
  ({ team }, _, chance) => team.configure({ state: pick(['PAUSED', 'DRAINING', 'RUNNING'], chance) }),
  ({ team }, _, chance) => team.configure({ mode: pick(['single', 'parallel'], chance) }),
  ({ team }, _, chance) => team.configure({ batch: chance() < 0.5, batchingMinSize: 2, concurrency: 3 }),
  ({ team }, _, chance) => team.configure({ landingMode: pick(['host', 'fast_forward'], chance) }),
  ({ host }, _, chance) =>
    host.configure({ faults: { webhooks: pick(['drop', 'double', 'deliver'], chance) } }),
  ({ host }) => host.down(),
  ({ host }) => host.up(),
  ({ time }) => time.pass(4),
  ({ time }) => time.pass(20),
  ({ holdBack }, _, chance) =>
    Promise.resolve(holdBack(pick(['land', 'reconcile-queue', 'publish-runs', 'sweep-queue'], chance))),
  ({ release }) => release(),
];

/** Everything is as it should be again, and CI answers whatever it is asked. */
async function calmDown({ host, team, time, ci, release, queue }: Story): Promise<void> {
  await host.deliverWebhooks();
  await host.up();
  await release();
  for (let round = 0; round < 12; round += 1) {
    if ((await queue()).state !== 'SWITCHING_MODES') await team.configure({ state: 'RUNNING' });
    await time.pass(6);
    await ci.finishRuns(passes);
  }
}

async function playRandomSteps(seed: number, options: StoryOptions): Promise<void> {
  const story = await openStory(options);
  const chance = createRandom(seed);
  for (const pr of prs) await story.team.propose(pr);
  for (let step = 0; step < 40; step += 1)
    // What is refused is refused: the story continues.
    await pick(steps, chance)(story, pick(prs, chance), chance).catch((error: unknown) => {
      if (!/answered (4|502)/.test(String(error))) throw error;
    });
  await calmDown(story);
  const { enqueuedPullRequests } = await story.queue();
  expect(enqueuedPullRequests.filter(({ state }) => state !== 'not_ready')).toEqual([]);
  for (const pr of prs) {
    const entry = await story.see(pr).catch(() => null);
    if (entry === null) continue;
    const wrong = pr === red ? 'MERGE_GRAPH_MERGE' : 'TEST_RUN_REQUIRED_STATUS_FAILED';
    expect(await story.reasons(pr)).not.toContain(wrong);
  }
}

const seeds = (process.env['STORY_SEEDS'] ?? '1,2,3,4').split(',').map(Number);

it.each(seeds)('random steps end every entry for the right reason, in one line, by seed %i', async (seed) => {
  await playRandomSteps(seed, {});
  expect(seed).toBeGreaterThan(0);
});

it.each(seeds)(
  'random steps end every entry for the right reason, in lanes and batches, by seed %i',
  async (seed) => {
    const settings = {
      mode: 'parallel',
      batch: true,
      batchingMinSize: 2,
      canOptimisticallyMerge: seed % 2 === 0,
    };
    await playRandomSteps(seed + 1_000, { settings });
    expect(seed).toBeGreaterThan(0);
  },
);

it.each(seeds)(
  'random steps end every entry for the right reason, in parallel lanes with the strategy adaptive, by seed %i',
  async (seed) => {
    await playRandomSteps(seed + 2_000, {
      settings: { mode: 'parallel', strategy: 'adaptive', concurrency: 3 },
    });
    expect(seed).toBeGreaterThan(0);
  },
);
