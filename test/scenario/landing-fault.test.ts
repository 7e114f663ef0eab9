// Whatever happens at whichever call of a landing, nothing comes onto the branch that was not tested, and nothing that the
// host would not merge when the landing last looked. Every call of the landing is a point at which it happens once. One gap
// is the hosts' own: no merge call names the commit of the branch, so a push right before it is found right after it.

import { afterEach, expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';
import { intercept } from './intercept.ts';

const calls = intercept();
const openStory = storyTeller(calls.options);
type Story = Awaited<ReturnType<typeof openStory>>;

afterEach(() => {
  calls.before = () => undefined;
  calls.after = () => undefined;
});

const happenings = {
  'an approval is withdrawn': ({ team }: Story, pr: number) =>
    team.change(pr, { mergeability: 'not_mergeable' }),
  'it is made a draft': ({ team }: Story, pr: number) => team.makeDraft(pr),
  'it is closed': ({ team }: Story, pr: number) => team.close(pr),
  'it is pushed to': ({ team }: Story, pr: number) => team.push(pr, { 'more.txt': 'never tested' }),
  'its base is changed': ({ team }: Story, pr: number) => team.retarget(pr, 'other'),
  'somebody pushes to the branch': ({ team }: Story, pr: number) =>
    team.pushToMain({ 'foreign.txt': String(pr) }),
} as const;
type Happening = keyof typeof happenings;

/** Does it before the call of this number; answers with the calls from then on, and whether it came to that. */
function at(step: number, what: () => Promise<unknown>) {
  const seen = { count: 0, since: null as string[] | null };
  let isBusy = false;
  calls.before = async (call) => {
    if (isBusy) return;
    seen.count += 1;
    if (seen.count === step) {
      isBusy = true;
      await what();
      isBusy = false;
      seen.since = [];
    }
    seen.since?.push(call);
  };
  return seen;
}

const treeOf = ({ git }: Story, revision: string) => git('rev-parse', `${revision}^{tree}`);

type Landed = {
  readonly pr: number;
  readonly what: Happening;
  readonly landingMode: string;
  readonly state: string;
  readonly before: string;
  readonly tested: string;
  readonly since: readonly string[] | null;
  readonly mayLand: boolean;
};

/** What must not be so after it happened. */
async function wrongWith(story: Story, landed: Landed): Promise<string[]> {
  const { pr, what, landingMode, state, before, tested, since, mayLand } = landed;
  if (what !== 'somebody pushes to the branch') {
    const isTested = [before, tested].includes(await treeOf(story, 'main'));
    return [
      ...(isTested ? [] : ['an untested tree is on the branch']),
      ...(mayLand || state !== 'merged' ? [] : ['it landed though the landing saw it']),
    ];
  }
  if (state !== 'merged') return [];
  const { landedTreeSha, testedTreeSha } = await story.landing({ pr: { number: pr } });
  if (landedTreeSha === testedTreeSha) return [];
  const isInTheCall = landingMode === 'host' && since?.[0] === 'merge';
  const isStopped = (await story.queue()).state === 'PAUSED';
  return isInTheCall && isStopped ? [] : ['an untested tree landed'];
}

/** Lands one while something happens before a call; answers whether it came to that. */
async function landDuring(story: Story, landingMode: string, pr: number, step: number, what: Happening) {
  const { team, ci, holdBack, release, see } = story;
  await team.submit(pr, { files: { [`${pr}.txt`]: 'x' } });
  const { testBranchSha } = await ci.runOf(pr);
  const tested = await treeOf(story, testBranchSha!);
  const before = await treeOf(story, 'main');
  holdBack('land');
  await ci.pass(pr);
  const seen = at(step, () => happenings[what](story, pr));
  await release();
  calls.before = () => undefined;
  const { state } = await see(pr);
  const moves = landingMode === 'host' ? 'merge' : 'git push';
  const looked = seen.since?.indexOf('readPullRequest') ?? -1;
  const moved = seen.since?.indexOf(moves) ?? -1;
  const note = `${what} before call ${step} by ${landingMode}: ${seen.since?.join(', ') ?? 'never'}`;
  // A landing that looked after it happened does not land.
  const mayLand = looked < 0 || (moved >= 0 && moved < looked);
  const wrong = await wrongWith(story, {
    pr,
    what,
    landingMode,
    state,
    before,
    tested,
    since: seen.since,
    mayLand,
  });
  expect({ note, wrong }).toEqual({ note, wrong: [] });
  if (state !== 'merged' && state !== 'failed' && state !== 'cancelled') await team.cancel(pr);
  return seen.since !== null;
}

const cases = Object.keys(happenings).flatMap((what) =>
  ['fast_forward', 'host'].map((mode) => [what as Happening, mode] as const),
);

/** No landing of one pull request makes more calls than this. */
const stepsMax = 20;

it.each(cases)(
  'never lands what is untested or unwanted: %s at any call of a landing by %s',
  async (what, landingMode) => {
    // Between the last look at the branch and the merge call the host alone can see a push: then it stops, loudly.
    const mayDiffer = what === 'somebody pushes to the branch' && landingMode === 'host';
    const story = await openStory({ settings: { landingMode }, endsInMismatch: mayDiffer });
    let step = 1;
    while (step < stepsMax && (await landDuring(story, landingMode, step, step, what))) {
      step += 1;
      if (mayDiffer && (await story.queue()).state === 'PAUSED') break;
    }
    expect(step).toBeLessThan(stepsMax);
    expect(step).toBeGreaterThan(3);
  },
  240_000,
);

it.each(['fast_forward', 'host'])(
  'lands a batch by %s exactly once, at whichever call it was killed',
  async (landingMode) => {
    const story = await openStory({ settings: { landingMode, batch: true, batchingMinSize: 2 } });
    const { world, team, ci, time, git, holdBack, release, landing, expectMerged } = story;
    for (let step = 1; step < stepsMax; step += 1) {
      const [one, two] = [step * 2 - 1, step * 2];
      await team.submit(one, { files: { [`${one}.txt`]: 'x' } });
      await team.submit(two, { files: { [`${two}.txt`]: 'x' } });
      const base = await git('rev-parse', 'main');
      holdBack('land');
      await ci.pass(two);
      let count = 0;
      const kill = () => {
        count += 1;
        if (count === step) throw new Error('killed');
      };
      // Half of the deaths are right after the call, so that what it did is done.
      calls.before = step % 2 === 0 ? kill : () => undefined;
      calls.after = step % 2 === 1 ? kill : () => undefined;
      await release();
      calls.before = () => undefined;
      calls.after = () => undefined;
      await time.wait();
      await time.wait();
      await expectMerged(one, two);
      const commits = await git('rev-list', '--count', '--first-parent', `${base}..main`);
      expect(`step ${step}: ${commits} commits`).toBe(`step ${step}: 2 commits`);
      const { landedTreeSha, testedTreeSha } = await landing({ pr: { number: two } });
      expect(landedTreeSha).toBe(testedTreeSha);
      if (count < step) break;
    }
    world.jobErrors.length = 0;
  },
  240_000,
);
