// What lands: the tested tree and nothing else, whatever happens between the members of a batch.

import { gitIn } from './audit.ts';
import type { HostKind, Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { landed, lands, says } from './step.ts';

const batchOf = (size: number) => ({
  batch: true,
  batchingMinSize: size,
  batchingMaxWaitTimeMinutes: 5,
  landingMode: 'host',
});
const batch = batchOf(3);
const callers: readonly HostKind[] = ['github', 'gitea'];

/** Pull requests in one run, with everything green but the landing held back. */
async function greenBatch(scene: Scene, size = 3): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let count = 0; count < size; count += 1) numbers.push(await scene.submit());
  const last = numbers.at(-1)!;
  await scene.runOf(last);
  scene.holdBack('land');
  await scene.ci(last, 'success');
  await scene.reach(last, 'tests_passed');
  return numbers;
}

const crash = (): Promise<void> => Promise.reject(new Error('the worker is gone'));

const mergedOf = async (scene: Scene, numbers: readonly number[]): Promise<number> => {
  const shown = await Promise.all(numbers.map((number) => scene.host.shown(number)));
  return shown.filter((state) => state === 'merged').length;
};

/** A host that is at work on the branch itself may refuse a push for a moment. */
async function foreignPush(scene: Scene, tries = 10): Promise<void> {
  const push = () => scene.host.pushToMain({ 'foreign.txt': 'foreign\n' });
  const sha = await push().catch(async (error: unknown) => {
    if (tries === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return null;
  });
  if (sha === null) await foreignPush(scene, tries - 1);
  else scene.audit.foreign(sha);
}

/** Lands what is left with green tests; nobody is lost by what happened. */
async function finish(scene: Scene, numbers: readonly number[]): Promise<void> {
  scene.interpose(null);
  const { state } = await scene.api.call('getQueue', scene.main);
  if (state === 'PAUSED') await scene.api.call('updateQueue', { ...scene.main, state: 'RUNNING' });
  for (let round = 0; round < 6 && (await mergedOf(scene, numbers)) < numbers.length; round += 1) {
    if ((await scene.runs()).length === 0) await scene.pass(6);
    for (const { testBranchSha, requiredStatuses } of await scene.runs())
      for (const name of testBranchSha === null ? [] : requiredStatuses)
        await scene.host.report(testBranchSha!, { name, conclusion: 'success' });
    await scene.settle();
  }
  for (const number of numbers) await landed(scene, number);
}

const foreign: readonly Situation[] = [0, 1, 2].map((count) => ({
  name: `somebody pushes to the branch after ${count} of 3 members of a landing by the merge call`,
  must: `no more than ${count} land before the landing stops; the rest land after new tests`,
  // One of them shows that the other host is read between two calls as well.
  hosts: count === 1 ? callers : ['github'],
  set: { settings: batch },
  run: async (scene) => {
    const numbers = await greenBatch(scene);
    if (count === 0) await foreignPush(scene);
    else
      scene.interpose(
        (method, nth) => (method === 'merge' && nth === count - 1 ? foreignPush(scene) : undefined),
        'after',
      );
    await scene.release();
    const merged = await mergedOf(scene, numbers);
    scene.must(merged <= count, `${merged} of three were merged`);
    if (merged > 0) {
      const { proof } = await scene.api.call('getLanding', scene.numbered(numbers[0]!));
      scene.must(proof === 'partial', `its attestation says ${proof}, and no run tested this part alone`);
    }
    await finish(scene, numbers);
    return `${merged} of 3 landed before it stopped; the rest after new tests`;
  },
}));

const noBase =
  'the merge call takes no expected base: only a branch that nobody else may update closes this instant, and the doctor says so';

export const landingSituations: readonly Situation[] = [
  {
    name: 'a batch of three lands by the merge call',
    must: 'all three land',
    hosts: callers,
    set: { settings: batch },
    run: async (scene) => {
      const numbers = await greenBatch(scene);
      await scene.release();
      for (const number of numbers) await landed(scene, number);
      return 'all three landed';
    },
  },
  ...foreign,
  {
    name: 'somebody pushes in the instant between the comparison and the merge call',
    must: 'nothing lands that was not tested',
    hosts: [],
    cannot: { github: noBase, gitea: noBase },
    run: () => Promise.reject(new Error(noBase)),
  },
  {
    name: 'a crash between two members, and nobody pushes',
    must: 'the landing resumes, and both land',
    hosts: callers,
    set: { settings: batchOf(2) },
    run: async (scene) => {
      const numbers = await greenBatch(scene, 2);
      scene.interpose((method, nth) => (method === 'merge' && nth === 1 ? crash() : undefined));
      await scene.release();
      await finish(scene, numbers);
      return 'both landed';
    },
  },
  {
    name: 'a crash between two members, and somebody pushes meanwhile',
    must: 'the landing does not resume on what was not tested; the second lands after new tests',
    hosts: callers,
    set: { settings: batchOf(2) },
    run: async (scene) => {
      const numbers = await greenBatch(scene, 2);
      scene.interpose((method, nth) =>
        method === 'merge' && nth === 1 ? foreignPush(scene).then(crash) : undefined,
      );
      await scene.release();
      scene.interpose(null);
      await scene.pass(1);
      const merged = await mergedOf(scene, numbers);
      scene.must(merged <= 1, 'both were merged');
      await finish(scene, numbers);
      return 'the first landed before the crash, the second after new tests';
    },
  },
  {
    name: 'the approval of the second member is withdrawn between two merge calls',
    must: 'the second member does not land',
    hosts: ['github'],
    set: { settings: batch, rules: { checks: [{ name: 'ci/test' }], approvals: 1 } },
    run: async (scene) => {
      const numbers: number[] = [];
      for (const _ of [1, 2, 3]) {
        const number = await scene.openBad();
        await scene.host.review('ada', number, 'approved');
        await scene.settle();
        await scene.submitOpen(number);
        numbers.push(number);
      }
      await scene.runOf(numbers[2]!);
      scene.holdBack('land');
      await scene.ci(numbers[2]!, 'success');
      await scene.reach(numbers[2]!, 'tests_passed');
      scene.interpose(
        (method, nth) =>
          method === 'merge' && nth === 0 ? scene.host.review('ada', numbers[1]!, 'dismissed') : undefined,
        'after',
      );
      await scene.release();
      scene.must((await scene.host.shown(numbers[1]!)) !== 'merged', 'it landed');
      return `it is ${await scene.state(numbers[1]!)}`;
    },
  },
  {
    name: 'somebody pushes to the branch just before a landing by push',
    must: 'the push is refused by git, and the pull request lands after new tests',
    hosts: callers,
    set: { settings: { landingMode: 'fast_forward', mergeMethod: 'merge_commit' } },
    run: async (scene) => {
      const number = await scene.submit();
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      await foreignPush(scene);
      await scene.release();
      scene.must((await scene.host.shown(number)) !== 'merged', 'it landed on what was not tested');
      await finish(scene, [number]);
      return 'it landed after new tests';
    },
  },
  {
    name: 'squash with `landingMode: fast_forward`',
    must: 'the pull request does not stay open, and a comment names the commit',
    hosts: ['github'],
    set: { settings: { landingMode: 'fast_forward', mergeMethod: 'squash' } },
    run: async (scene) => {
      const number = await scene.submit();
      await lands(scene, number);
      await scene.pass(1);
      const shown = await scene.host.shown(number);
      scene.must(shown !== 'open', 'it stays open');
      const tip = await gitIn(scene.host.directory, 'rev-parse', 'refs/heads/main');
      await says(scene, number, new RegExp(tip.slice(0, 7)));
      return `the host shows it as ${shown}, and the comment names the commit`;
    },
  },
  {
    name: 'the host forbids everything while a landing is under way, for hours',
    must: 'the landing is not forgotten: it lands when the host is well again, or the queue says why it stopped',
    hosts: ['sandbox'],
    run: async (scene) => {
      const number = await scene.submit();
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      const faults = (answers: string) =>
        scene.api.call('sandboxConfigureRepository', { repo: scene.host.repo, faults: { answers } });
      await faults('forbidden');
      await scene.release();
      for (let hour = 0; hour < 25; hour += 1) await scene.pass(60);
      const { state: before, stateReason } = await scene.api.call('getQueue', scene.main);
      await faults('ok');
      await scene.pass(60);
      const { state } = await scene.api.call('getQueue', scene.main);
      if (state === 'PAUSED') await scene.api.call('updateQueue', { ...scene.main, state: 'RUNNING' });
      for (let hour = 0; hour < 3; hour += 1) await scene.pass(60);
      const did = await landed(scene, number);
      return `${did}; meanwhile the queue was ${before}${stateReason ? ` (${stateReason})` : ''}`;
    },
  },
  {
    name: 'no host serves the repository while a landing is under way',
    must: 'the landing is not forgotten: it lands when the host is there again',
    hosts: ['github', 'sandbox'],
    run: async (scene) => {
      const number = await scene.submit();
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      scene.hideHost(true);
      await scene.release();
      for (let hour = 0; hour < 3; hour += 1) await scene.pass(60);
      scene.hideHost(false);
      for (let hour = 0; hour < 3; hour += 1) await scene.pass(60);
      return landed(scene, number);
    },
  },
];
