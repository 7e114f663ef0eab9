// Nothing of a pull request is left out, and nothing in its text can switch off the tests.

import { gitIn } from './audit.ts';
import type { Situation } from './model.ts';
import { lands, landed } from './step.ts';

export const gitSituations: readonly Situation[] = [
  {
    name: 'rebase of a pull request that merged a side branch',
    must: 'the commits of the side branch land as well, or the pull request is refused',
    hosts: ['github'],
    set: { settings: { mergeMethod: 'rebase', landingMode: 'fast_forward' } },
    run: async (scene) => {
      const { server, fullName } = scene.host.github!;
      const number = await scene.openBad({ files: { 'own.txt': 'own\n' } });
      const head = scene.headOf(number);
      const base = await gitIn(scene.host.directory, 'rev-parse', 'refs/heads/main');
      await server.setBranch(fullName, 'side', base);
      const side = await server.commit(fullName, {
        branch: 'side',
        files: { 'side.txt': 'side\n' },
        message: 'Side',
      });
      const tree = await gitIn(scene.host.directory, 'merge-tree', '--write-tree', head, side);
      const person = ['-c', 'user.name=Grace', '-c', 'user.email=grace@example.com'];
      const parents = ['-p', head, '-p', side];
      const merge = await gitIn(
        scene.host.directory,
        ...person,
        'commit-tree',
        tree,
        ...parents,
        '-m',
        'Merge side',
      );
      await server.setBranch(fullName, 'change-1', merge, 'grace');
      await server.completeCheckRun(fullName, merge, { name: 'ci/test', conclusion: 'success' });
      scene.audit.head(merge);
      await scene.settle();
      await scene.submitOpen(number);
      const seen = await scene.reach(number, 'testing', 'failed');
      if (seen === 'failed') return `it is refused (${(await scene.see(number))?.conclusionReason})`;
      await lands(scene, number);
      const files = await gitIn(scene.host.directory, 'ls-tree', '--name-only', 'refs/heads/main');
      scene.must(files.includes('side.txt'), 'it landed without the file of the side branch');
      return 'everything landed';
    },
  },
  ...['[skip ci]', '[ci skip]', 'skip-checks: true'].map((token): Situation => ({
    name: `the pull request says \`${token}\``,
    must: 'neither the test commit nor the landed commit says it',
    hosts: token === '[skip ci]' ? ['github', 'gitea'] : ['sandbox'],
    run: async (scene) => {
      // A trailer counts only as a line of its own, at the end of a message.
      const title = token.startsWith('[') ? `Docs ${token}` : 'Docs';
      const number = await scene.submit({ title, body: `Text\n\n\n${token}` });
      const { testBranchSha } = await scene.runOf(number);
      const isSaid = (message: string) =>
        message
          .split('\n')
          .some((line) => (token.startsWith('[') ? line.includes(token) : line.trim() === token));
      const messageOf = (commit: string) =>
        gitIn(scene.host.directory, 'show', '--no-patch', '--format=%B', commit);
      const tested = await messageOf(testBranchSha);
      scene.must(!isSaid(tested), `the test commit says: ${tested}`);
      await lands(scene, number);
      const message = await messageOf('refs/heads/main');
      scene.must(!isSaid(message), `the landed commit says: ${message}`);
      return 'neither says it';
    },
  })),
  {
    name: 'who the test commit says made it',
    must: 'the committer is the noreply address of the App at this server',
    hosts: ['github'],
    run: async (scene) => {
      const number = await scene.submit();
      const { testBranchSha } = await scene.runOf(number);
      const email = await gitIn(scene.host.directory, 'show', '--no-patch', '--format=%ce', testBranchSha);
      const isNoreply = /^\d+\+signalbox\[bot\]@users\.noreply\.127\.0\.0\.1$/.test(email);
      scene.must(isNoreply, `the committer is ${email}`);
      await lands(scene, number);
      return `the committer is ${email}`;
    },
  },
  {
    name: 'a pull request with a `.signalbox.yaml` of 1.2 MB',
    must: 'the pull requests behind it land',
    hosts: ['github', 'sandbox'],
    set: { settings: { protectedPaths: [] } },
    run: async (scene) => {
      const poison = await scene.openBad({ files: { '.signalbox.yaml': `# ${'é'.repeat(500_000)}\n` } });
      await scene.submitOpen(poison);
      const honest = await scene.submit();
      await scene.pass(1);
      await scene.pass(1);
      await lands(scene, honest);
      return `the honest one landed; the other is ${await scene.state(poison)}`;
    },
  },
  {
    name: 'a landing by push with the settings that a queue has by default',
    must: 'no draft pull request is opened for the test branch, which the host would show as merged too',
    hosts: ['github'],
    set: { settings: { mergeMethod: 'merge_commit', landingMode: 'fast_forward' } },
    run: async (scene) => {
      const number = await scene.submit();
      await lands(scene, number);
      scene.must((await scene.host.shown(number)) === 'merged', 'the host does not show it as merged');
      const { server, fullName } = scene.host.github!;
      const last = server.openIssue(fullName, 'The next number');
      scene.must(last === number + 1, 'there is another pull request');
      return 'the host shows it as merged, and there is no other pull request';
    },
  },
  {
    name: 'the host refuses to delete the test branch of an earlier run',
    must: 'the next pull request is tested, and lands',
    hosts: ['github'],
    run: async (scene) => {
      const { server, fullName } = scene.host.github!;
      server.addRuleset(fullName, {
        include: ['refs/heads/signalbox/**/*'],
        rules: [{ type: 'deletion' }],
      });
      const first = await scene.submit();
      await lands(scene, first);
      await scene.pass(1);
      const second = await scene.submit();
      await scene.pass(1);
      await lands(scene, second);
      return landed(scene, second);
    },
  },
  {
    name: '80 pull requests in one queue with `concurrency: 100`',
    must: 'all of them are under test',
    hosts: ['sandbox'],
    set: { settings: { concurrency: 100 } },
    run: async (scene) => {
      const numbers = Array.from({ length: 80 }, (_, index) => index + 1);
      scene.holdBack('reconcile-queue', 'publish-runs', 'post-status');
      for (const number of numbers) await scene.api.call('submitPullRequest', scene.numbered(number));
      await scene.release();
      const { enqueuedPullRequests } = await scene.api.call('getQueue', scene.main);
      const testing = enqueuedPullRequests.filter(({ state }) => state === 'testing').length;
      scene.must(testing === 80, `${testing} of 80 are under test`);
      return '80 of 80 are under test';
    },
  },
];
