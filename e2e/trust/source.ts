// A required check is bound to who may report it: a name is not enough.

import type { Situation } from './model.ts';
import { lands, landed, staysOut } from './step.ts';

const noSources =
  'Gitea binds a required check to a name only (models/git/protected_branch.go: StatusCheckContexts)';

export const sourceSituations: readonly Situation[] = [
  {
    name: 'a commit status has the name of the required check run',
    must: 'the status does not satisfy it; the check run of CI does',
    hosts: ['github'],
    cannot: { gitea: noSources },
    run: async (scene) => {
      const number = await scene.submit();
      const { testBranchSha } = await scene.runOf(number);
      await scene.host.report(testBranchSha, { name: 'ci/test', conclusion: 'success', source: 'status' });
      await staysOut(scene, number);
      return lands(scene, number);
    },
  },
  {
    name: 'another App reports the required check, which the rule binds to the App of CI',
    must: 'it does not satisfy the rule; the check run of CI does',
    hosts: ['github'],
    cannot: { gitea: noSources },
    set: { rules: { checks: [{ name: 'ci/test', source: 'bound' }] } },
    run: async (scene) => {
      const number = await scene.submit();
      const { testBranchSha } = await scene.runOf(number);
      await scene.host.report(testBranchSha, { name: 'ci/test', conclusion: 'success', source: 'other' });
      await staysOut(scene, number);
      return lands(scene, number);
    },
  },
  {
    name: 'another App reports the required check, which CI reports on the branch',
    must: 'it does not satisfy the rule; the check run of CI does',
    hosts: ['github'],
    run: async (scene) => {
      const number = await scene.submit();
      const { testBranchSha } = await scene.runOf(number);
      await scene.host.report(testBranchSha, { name: 'ci/test', conclusion: 'success', source: 'other' });
      await staysOut(scene, number);
      return lands(scene, number);
    },
  },
  {
    name: 'the required check is a commit status on the branch',
    must: 'a commit status satisfies it',
    hosts: ['github'],
    set: { rules: { checks: [{ name: 'ci/test', source: 'status' }] } },
    run: async (scene) => {
      const number = await scene.submit();
      const { testBranchSha } = await scene.runOf(number);
      await scene.host.report(testBranchSha, { name: 'ci/test', conclusion: 'success', source: 'status' });
      return landed(scene, number);
    },
  },
  {
    name: 'the attestation of a landing',
    must: 'it names the source of each required check',
    hosts: ['github'],
    run: async (scene) => {
      const number = await scene.submit();
      await lands(scene, number);
      const landing = await scene.api.call('getLanding', scene.numbered(number));
      scene.must(
        /"source":"app:\d+"/.test(JSON.stringify(landing)),
        `no source is named: ${JSON.stringify(landing)}`,
      );
      return 'the source is named';
    },
  },
];
