// CI that works on a run which was given up is stopped at the host, and what that saves is counted.

import type { Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { lands } from './step.ts';

const cannot = {
  github: 'the server of the tests has no workflow runs; what is called is in GitHub’s documentation',
  gitea: 'this version has no call that stops a workflow run (routers/api/v1/api.go, /actions/runs)',
};

/** CI begins to work on the run of a pull request. */
async function ciBegins(scene: Scene, number: number): Promise<void> {
  await scene.ci(number, null);
  // It is dated by the database, whose clock a situation cannot move.
  await scene.world.cell.pool.query(
    'update test_run set started_at = pushed_at where started_at < pushed_at',
  );
}

/** CI of the queue has taken half an hour so far. */
async function learnDuration(scene: Scene): Promise<void> {
  const number = await scene.submit();
  await ciBegins(scene, number);
  await scene.pass(30);
  await lands(scene, number);
}

const ciOf = async ({ api, host }: Scene, sha: string) => {
  const { ciRuns = [], checks = [] } = await api.call('sandboxGetRepository', { repo: host.repo, sha });
  return {
    isWorking: ciRuns.some(({ state }) => state !== 'done'),
    checks: checks.map(({ name, state }) => `${name} ${state}`).join(', '),
  };
};

async function minutesSaved({ api, main, world }: Scene): Promise<number> {
  const now = world.clock.now().getTime();
  const [since, until] = [now - 86_400_000, now + 3_600_000].map((at) => new Date(at).toISOString());
  const { totals } = await api.call('getQueueHistory', { ...main, since: since!, until: until! });
  return totals.ciMinutesSaved ?? 0;
}

async function isStopped(scene: Scene, sha: string): Promise<string> {
  // It holds up no decision, so it may come a little later.
  await scene.pass(1);
  const { isWorking, checks } = await ciOf(scene, sha);
  scene.must(!isWorking, `CI still works on it: ${checks}`);
  scene.must(checks.includes('cancelled'), `its checks are ${checks}`);
  const minutes = await minutesSaved(scene);
  scene.must(minutes >= 15 && minutes <= 25, `${minutes} minutes are counted as saved`);
  return `CI was stopped, and ${minutes.toFixed(0)} minutes are counted as saved`;
}

export const stoppedSituations: readonly Situation[] = [
  {
    name: 'a pull request is cancelled ten minutes into a run of thirty',
    must: 'its run is stopped at the host, and the minutes saved are counted',
    hosts: ['sandbox'],
    cannot,
    run: async (scene) => {
      await learnDuration(scene);
      const number = await scene.openBad();
      await scene.submitOpen(number);
      const { testBranchSha } = await scene.runOf(number);
      await ciBegins(scene, number);
      scene.must((await ciOf(scene, testBranchSha)).isWorking, 'CI does not work on it');
      await scene.pass(10);
      await scene.api.call('cancelPullRequest', scene.numbered(number));
      await scene.settle();
      return isStopped(scene, testBranchSha);
    },
  },
  {
    name: 'the pull request ahead leaves ten minutes into the run of the one behind it',
    must: 'the run that was built on it is stopped, and the one behind lands after a new run',
    hosts: ['sandbox'],
    cannot,
    run: async (scene) => {
      await learnDuration(scene);
      const ahead = await scene.openBad();
      await scene.submitOpen(ahead);
      const behind = await scene.submit();
      const { testBranchSha } = await scene.runOf(behind);
      await ciBegins(scene, behind);
      await scene.pass(10);
      await scene.api.call('cancelPullRequest', scene.numbered(ahead));
      await scene.settle();
      const { isWorking, checks } = await ciOf(scene, testBranchSha);
      scene.must(!isWorking, `CI still works on it: ${checks}`);
      await lands(scene, behind);
      return 'the old run was stopped; it landed after a new one';
    },
  },
];
