// Which checks a pull request must pass is for the branch to say, never for the pull request.

import type { Situation } from './model.ts';
import { landed, lands, says, staysOut } from './step.ts';

const waiver = { '.signalbox.yaml': 'merge:\n  required_statuses: []\n' };
const all = ['github', 'gitea', 'sandbox'] as const;
/** Changes of our own file need an approval, which is another situation. */
const settings = { protectedPaths: [] };

export const ruleSituations: readonly Situation[] = [
  {
    name: 'an honest pull request, and CI is green',
    must: 'it lands',
    hosts: all,
    run: async (scene) => lands(scene, await scene.submit()),
  },
  {
    name: 'an honest pull request, and CI is red',
    must: 'it does not land, and says that its tests failed',
    hosts: all,
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.submitOpen(number);
      const { testRunId: first } = await scene.runOf(number);
      await scene.ci(number, 'failure');
      // One failed run may be chance. A webhook of a real Gitea arrives when it arrives.
      await scene.until(async () => (await scene.runOf(number)).testRunId !== first);
      await scene.ci(number, 'failure');
      const seen = await scene.reach(number, 'failed', 'merged');
      scene.must(seen === 'failed', `it is ${seen}`);
      return `it is failed (${await scene.reasons(number)})`;
    },
  },
  {
    name: 'a pull request brings `required_statuses: []`, and CI says nothing',
    must: 'it does not land: the checks of the branch stay required',
    hosts: all,
    set: { settings },
    run: async (scene) => staysOut(scene, await scene.submit({ files: { ...waiver, 'a.txt': 'a\n' } })),
  },
  {
    name: 'behind a pull request that brings `required_statuses: []`',
    must: 'the honest pull request behind it does not land untested',
    hosts: ['github', 'sandbox'],
    set: { settings },
    run: async (scene) => {
      await scene.submit({ files: waiver });
      return staysOut(scene, await scene.submit());
    },
  },
  {
    name: 'after `required_statuses: []` has landed with green checks',
    must: 'the protection of the branch still requires its check',
    hosts: ['github', 'gitea'],
    set: { settings },
    run: async (scene) => {
      await lands(scene, await scene.submit({ files: waiver }));
      const next = await scene.submit();
      await staysOut(scene, next);
      return lands(scene, next);
    },
  },
  {
    name: 'a pull request adds a check in `.signalbox.yaml`',
    must: 'the added check is required beside those of the branch, and comment and attestation name the change',
    hosts: all,
    set: { settings },
    run: async (scene) => {
      const file = { '.signalbox.yaml': 'merge:\n  required_statuses: [ci/extra]\n' };
      const number = await scene.submit({ files: file });
      await scene.ci(number, 'success', 'ci/test');
      await staysOut(scene, number);
      await says(scene, number, /changes which checks are required[^]*ci\/extra/);
      await scene.ci(number, 'success', 'ci/extra');
      const did = await landed(scene, number);
      const { ruleChanges } = await scene.api.call('getLanding', scene.numbered(number));
      scene.must(
        JSON.stringify(ruleChanges).includes('ci/extra'),
        'the attestation does not name the change',
      );
      return `${did}, and comment and attestation name the change`;
    },
  },
  {
    name: 'nothing is required anywhere',
    must: 'nothing lands',
    hosts: ['github', 'gitea'],
    cannot: { sandbox: 'a branch of the sandbox without rules requires what its CI reports' },
    set: { rules: null },
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.submitOpen(number);
      return staysOut(scene, number);
    },
  },
  {
    name: 'an administrator sets `requiredStatuses: []` on the queue',
    must: 'it lands without a check: that is the administrator’s decision',
    hosts: ['gitea'],
    set: { rules: { checks: [] }, settings: { requiredStatuses: [] } },
    run: async (scene) => landed(scene, await scene.submit()),
  },
  {
    name: 'the branch requires another check while the pull request is under test',
    must: 'it does not land before that check is green too',
    hosts: all,
    run: async (scene) => {
      const number = await scene.submit();
      await scene.runOf(number);
      await scene.protect({ checks: [{ name: 'ci/test' }, { name: 'ci/late' }] });
      scene.world.clock.advance(60_000);
      await scene.ci(number, 'success', 'ci/test');
      await staysOut(scene, number);
      await scene.poll();
      const run = await scene.runOf(number);
      scene.must(
        run.requiredStatuses.includes('ci/late'),
        `its run requires ${run.requiredStatuses.join(', ')} only; ${await scene.reasons(number)}`,
      );
      for (const name of ['ci/test', 'ci/late'])
        for (const sha of [run.testBranchSha, scene.headOf(number)])
          await scene.host.report(sha, { name, conclusion: 'success' });
      return landed(scene, number);
    },
  },
  {
    name: 'the branch requires another check between the last green check and the landing',
    must: 'it does not land before that check is green too',
    hosts: all,
    run: async (scene) => {
      const number = await scene.submit();
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success', 'ci/test');
      await scene.reach(number, 'tests_passed');
      await scene.protect({ checks: [{ name: 'ci/test' }, { name: 'ci/late' }] });
      scene.world.clock.advance(60_000);
      await scene.release();
      return staysOut(scene, number);
    },
  },
];
