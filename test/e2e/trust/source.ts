// A required check is bound to who may report it: a name is not enough.

import { gitIn } from './audit.ts';
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
    must: 'it names what landed as git has it, each required check with its source, and what CI said',
    hosts: ['github', 'gitea', 'sandbox'],
    run: async (scene) => {
      const git = (...args: readonly string[]) => gitIn(scene.host.directory, ...args);
      const base = await git('rev-parse', 'refs/heads/main');
      const number = await scene.submit();
      const { testBranchSha } = await scene.runOf(number);
      const testedTree = await git('rev-parse', `${testBranchSha}^{tree}`);
      await lands(scene, number);
      const [tip, tree] = await Promise.all(
        ['', '^{tree}'].map((end) => git('rev-parse', `refs/heads/main${end}`)),
      );
      const landing = await scene.api.call('getLanding', scene.numbered(number));
      const { members, requiredChecks, statusChecks } = landing;
      const wanted = {
        baseSha: base,
        landedSha: tip,
        landedTreeSha: tree,
        testedTreeSha: testedTree,
        testBranchSha,
        proof: 'exact',
      };
      for (const [name, value] of Object.entries(wanted))
        scene.must(
          landing[name as keyof typeof wanted] === value,
          `${name} is ${String(landing[name as keyof typeof wanted])}, git has ${value}`,
        );
      scene.must(tree === testedTree, 'the tree that landed is not the tree that was tested');
      const head = scene.headOf(number);
      const isMember = members.length === 1 && members[0]!.prSha === head && !members[0]!.forced;
      scene.must(isMember, `its members are ${JSON.stringify(members)}`);
      const source = scene.host.kind === 'github' ? /"ci\/test".*"source":"app:\d+"/ : /"ci\/test"/;
      scene.must(
        source.test(JSON.stringify(requiredChecks)),
        `it requires ${JSON.stringify(requiredChecks)}`,
      );
      const said = JSON.stringify(statusChecks).toLowerCase();
      scene.must(said.includes('ci/test') && said.includes('success'), `CI said ${said}`);
      return 'it names commits, trees, checks, sources and results as git and the host have them';
    },
  },
];
