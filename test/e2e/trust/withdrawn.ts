// What the host would refuse is not pushed: an approval that is withdrawn at any step of the way stops the landing.

import type { HostKind, ReviewState, Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { staysOut } from './step.ts';

const rules = { checks: [{ name: 'ci/test' }], approvals: 1 };
const hosts: readonly HostKind[] = ['github', 'gitea'];

type Step = {
  readonly name: string;
  /** Brings an approved pull request to the step, and withdraws there. */
  readonly play: (scene: Scene, number: number, withdraw: () => Promise<void>) => Promise<void>;
};

const steps: readonly Step[] = [
  {
    name: 'while it waits for its run',
    play: async (scene, number, withdraw) => {
      scene.holdBack('publish-runs');
      await scene.submitOpen(number);
      await withdraw();
      await scene.release();
    },
  },
  {
    name: 'while it is under test',
    play: async (scene, number, withdraw) => {
      await scene.submitOpen(number);
      const { testBranchSha, requiredStatuses } = await scene.runOf(number);
      await withdraw();
      await scene.settle();
      for (const name of requiredStatuses)
        await scene.host.report(testBranchSha, { name, conclusion: 'success' });
    },
  },
  {
    name: 'after CI is green, before the landing',
    play: async (scene, number, withdraw) => {
      await scene.submitOpen(number);
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      await withdraw();
      await scene.release();
    },
  },
  {
    name: 'after CI is green, and no webhook says so',
    play: async (scene, number, withdraw) => {
      await scene.submitOpen(number);
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      await scene.host.webhooks(false);
      await withdraw();
      await scene.release();
    },
  },
  {
    name: 'when the landing reads the pull request',
    play: async (scene, number, withdraw) => {
      await scene.submitOpen(number);
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      scene.interpose((method, nth) => (method === 'readPullRequest' && nth === 0 ? withdraw() : undefined));
      await scene.release();
    },
  },
];

const ways: readonly {
  readonly text: string;
  readonly state: ReviewState;
  readonly settings: object;
  readonly hosts: readonly HostKind[];
}[] = [
  { text: 'the approval is dismissed', state: 'dismissed', settings: {}, hosts },
  { text: 'changes are requested', state: 'changes_requested', settings: {}, hosts: ['github'] },
  {
    text: 'the approval is dismissed (landing by push)',
    state: 'dismissed',
    settings: { mergeMethod: 'merge_commit', landingMode: 'fast_forward' },
    hosts: ['github'],
  },
];

export const withdrawnSituations: readonly Situation[] = [
  ...ways.flatMap((way) =>
    steps.map(({ name, play }): Situation => ({
      name: `${way.text} ${name}`,
      must: 'it does not land',
      hosts: way.hosts,
      set: { rules, settings: way.settings },
      run: async (scene) => {
        const number = await scene.open();
        await scene.host.review('ada', number, 'approved');
        await scene.settle();
        await play(scene, number, () => scene.host.review('ada', number, way.state));
        return staysOut(scene, number);
      },
    })),
  ),
  ...(['closed', 'draft', 'base'] as const).map((what): Situation => ({
    name: `the pull request is ${{ closed: 'closed', draft: 'made a draft', base: 'moved to another branch' }[what]} after CI is green, before the landing`,
    must: 'it does not land',
    hosts: ['github', 'gitea', 'sandbox'],
    set: { files: { 'other.txt': 'other\n' } },
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.submitOpen(number);
      await scene.runOf(number);
      if (what === 'base') await scene.host.branch('release');
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      await scene.host.change(
        number,
        what === 'closed' ? { state: 'closed' } : what === 'draft' ? { draft: true } : { base: 'release' },
      );
      await scene.release();
      return staysOut(scene, number);
    },
  })),
];
