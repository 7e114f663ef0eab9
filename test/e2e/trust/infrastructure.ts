// Trouble of CI itself is no pull request's failure: the run is repeated, and only after some repeats the entry leaves,
// with a reason of its own.

import { HostError } from '#host/host.ts';
import type { Conclusion, Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { landed, lands } from './step.ts';

/** Longer than any pause between two repeats. */
const pauseMinutes = 10;

async function isRepeated(scene: Scene, number: number): Promise<void> {
  await scene.pass(pauseMinutes);
  await scene.settle();
  const seen = await scene.state(number);
  scene.must(seen !== 'failed', `it was removed: ${await scene.reasons(number)}`);
  scene.must(seen !== 'merged', 'it landed');
}

const conclusions: readonly Conclusion[] = [
  'cancelled',
  'stale',
  'startup_failure',
  'action_required',
  'timed_out',
];

const noSuchState = 'its commit statuses have no such state (modules/commitstatus/commit_status.go)';
const noSuchConclusion =
  'GitHub’s published description of a check run leaves this conclusion out, and its server here says nothing else';
const isOfRuns = (conclusion: Conclusion): boolean =>
  conclusion !== 'stale' && conclusion !== 'startup_failure';

const once: readonly Situation[] = conclusions.map((conclusion) => ({
  name: `CI ends as \`${conclusion}\` once`,
  must: 'the run is repeated, and it lands when the repeat is green',
  hosts: isOfRuns(conclusion) ? ['github'] : ['sandbox'],
  cannot: {
    ...(conclusion === 'cancelled' ? {} : { gitea: noSuchState }),
    ...(isOfRuns(conclusion) ? {} : { github: noSuchConclusion }),
  },
  run: async (scene) => {
    const number = await scene.submit();
    await scene.ci(number, conclusion);
    await isRepeated(scene, number);
    return lands(scene, number);
  },
}));

/** More often than any run is repeated. */
const often = 12;

const always: readonly Situation[] = (['cancelled', 'startup_failure'] as const).map((conclusion) => ({
  name: `CI ends as \`${conclusion}\` every time`,
  must: 'it leaves with a reason of its own, which does not say that its tests failed',
  hosts: isOfRuns(conclusion) ? ['github', 'sandbox'] : ['sandbox'],
  run: async (scene) => {
    const number = await scene.openBad();
    await scene.submitOpen(number);
    let repeats = 0;
    for (; repeats < often && !(await isEnded(scene, number)); repeats += 1) {
      // Between two repeats there is a pause, in which no run is under way.
      if ((await scene.runs()).length > 0) await scene.ci(number, conclusion);
      await scene.pass(pauseMinutes);
    }
    const { state, conclusionReason: reason } = (await scene.see(number))!;
    scene.must(state === 'failed', `after ${repeats} it is ${state}`);
    scene.must(reason !== 'TEST_RUN_REQUIRED_STATUS_FAILED', `it left as ${reason}`);
    return `after ${repeats} it left as ${reason}`;
  },
}));

const isEnded = async (scene: Scene, number: number): Promise<boolean> =>
  ['failed', 'cancelled', 'merged'].includes(await scene.state(number));

export const infrastructureSituations: readonly Situation[] = [
  ...once,
  ...always,
  {
    name: 'CI is cancelled for the pull request ahead',
    must: 'both pull requests land in the end',
    hosts: ['github', 'sandbox'],
    run: async (scene) => {
      const first = await scene.submit();
      const second = await scene.submit();
      await scene.runOf(second);
      await scene.ci(first, 'cancelled');
      await isRepeated(scene, first);
      await scene.ci(first, 'success');
      await scene.pass(1);
      await lands(scene, second);
      return `${await landed(scene, first)}, and so did the one behind it`;
    },
  },
  {
    name: 'CI never begins: a lost dispatch',
    must: 'it is noticed within minutes and started again, and the pull request lands',
    hosts: ['github', 'gitea'],
    cannot: { sandbox: 'its CI reports `pending` with the push itself, so it always begins' },
    run: async (scene) => {
      const number = await scene.submit();
      const before = await scene.runOf(number);
      await scene.pass(4);
      await scene.pass(1);
      const after = await scene.runOf(number);
      scene.must(
        after.testBranchSha !== before.testBranchSha,
        'five minutes later it still waits for the same commit',
      );
      return `${await lands(scene, number)} with another test commit`;
    },
  },
  {
    name: 'CI never begins, whatever is done',
    must: 'it leaves with a reason of its own, which does not say that its tests failed',
    hosts: ['github'],
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.submitOpen(number);
      for (let round = 0; round < 30 && !(await isEnded(scene, number)); round += 1) await scene.pass(20);
      const { state, conclusionReason: reason } = (await scene.see(number))!;
      scene.must(state === 'failed', `ten hours later it is ${state}`);
      scene.must(reason !== 'TEST_RUN_REQUIRED_STATUS_FAILED', `it left as ${reason}`);
      return `it left as ${reason}`;
    },
  },
  {
    name: 'CI reports its success twice',
    must: 'it lands once',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const number = await scene.submit();
      const { testBranchSha } = await scene.runOf(number);
      for (const _ of [1, 2])
        await scene.host.report(testBranchSha, { name: 'ci/test', conclusion: 'success' });
      await landed(scene, number);
      scene.must(scene.audit.landed() === 1, `${scene.audit.landed()} commits landed`);
      return 'one commit landed';
    },
  },
  {
    name: 'CI runs twice, and the second run is red while the first is green',
    must: 'it does not land while a result of the required check is red',
    hosts: ['github'],
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.submitOpen(number);
      const { testBranchSha } = await scene.runOf(number);
      await scene.host.report(testBranchSha, { name: 'ci/test', conclusion: null });
      await scene.host.report(testBranchSha, { name: 'ci/test', conclusion: 'failure' });
      await scene.settle();
      const seen = await scene.reach(number, 'failed', 'merged');
      scene.must(seen !== 'merged', 'it landed');
      return `it is ${seen}`;
    },
  },
  {
    name: 'every webhook is delivered twice',
    must: 'it lands once',
    hosts: ['sandbox'],
    run: async (scene) => {
      await scene.api.call('sandboxConfigureRepository', {
        repo: scene.host.repo,
        faults: { webhooks: 'double' },
      });
      const number = await scene.submit();
      await lands(scene, number);
      scene.must(scene.audit.landed() === 1, `${scene.audit.landed()} commits landed`);
      return 'one commit landed';
    },
  },
  {
    name: 'no webhook arrives at all',
    must: 'what CI says is found by polling, and it lands',
    hosts: ['github', 'gitea'],
    set: { webhooks: false },
    run: async (scene) => {
      const number = await scene.submit();
      await scene.poll();
      await scene.ci(number, 'success');
      await scene.poll();
      return landed(scene, number);
    },
  },
  {
    name: 'the host answers 503 to every comment of Signalbox',
    must: 'the queue decides on, and it lands',
    hosts: ['github', 'sandbox'],
    run: async (scene) => {
      scene.interpose((method) =>
        method === 'writeComment'
          ? Promise.reject(new HostError('unavailable', 'comments answer 503'))
          : undefined,
      );
      const number = await scene.submit();
      const did = await lands(scene, number);
      const { isHostAway } = await scene.api.call('getQueue', scene.main);
      scene.must(!isHostAway, 'the host counts as away');
      return did;
    },
  },
  {
    name: 'the tests are restarted after the pull request ahead has landed',
    must: 'the restart tests another commit: old results say nothing of it',
    hosts: ['github', 'sandbox'],
    set: { settings: { landingMode: 'fast_forward', mergeMethod: 'merge_commit' } },
    run: async (scene) => {
      const first = await scene.submit();
      const second = await scene.submit();
      const before = await scene.runOf(second);
      await lands(scene, first);
      await scene.api.call('restartTestsOnPullRequest', scene.numbered(second));
      await scene.settle();
      const after = await scene.runOf(second);
      scene.must(after.testRunId !== before.testRunId, 'no new run was started');
      scene.must(after.testBranchSha !== before.testBranchSha, 'the new run tests the same commit');
      return `${await lands(scene, second)} with another test commit`;
    },
  },
];
