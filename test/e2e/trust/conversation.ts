// A branch whose ruleset asks for resolved conversations: GitHub would let a push of an App that may bypass it through.

import type { Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { landed, lands, staysOut } from './step.ts';

const cannot = {
  gitea: 'its branch protection has no rule about conversations (modules/structs/repo_branch.go)',
  sandbox: 'its pull requests have no conversations',
};
const settings = { mergeMethod: 'merge_commit', landingMode: 'fast_forward' };

const parameters = {
  required_approving_review_count: 0,
  dismiss_stale_reviews_on_push: false,
  require_code_owner_review: false,
  require_last_push_approval: false,
  required_review_thread_resolution: true,
};

function requireResolution({ host }: Scene): void {
  const { server, fullName } = host.github!;
  server.addRuleset(fullName, {
    rules: [{ type: 'pull_request', parameters }],
    bypassApps: [server.appId],
  });
}

export const conversationSituations: readonly Situation[] = [
  {
    name: 'a conversation on the pull request is not resolved when it is submitted',
    must: 'it does not land before the conversation is resolved',
    hosts: ['github'],
    cannot,
    set: { settings },
    run: async (scene) => {
      requireResolution(scene);
      const { server, fullName } = scene.host.github!;
      const number = await scene.open();
      const thread = server.startThread(fullName, number, 'ada');
      await scene.submitOpen(number);
      if ((await scene.state(number)) === 'testing') await scene.ci(number, 'success');
      const did = await staysOut(scene, number);
      server.resolveThread(fullName, number, thread, 'ada');
      await scene.settle();
      await scene.poll();
      await lands(scene, number);
      return `${did}; it landed after the conversation was resolved`;
    },
  },
  {
    name: 'a conversation begins after CI is green, before the landing',
    must: 'it does not land',
    hosts: ['github'],
    cannot,
    set: { settings },
    run: async (scene) => {
      requireResolution(scene);
      const { server, fullName } = scene.host.github!;
      const number = await scene.openBad();
      await scene.submitOpen(number);
      await scene.runOf(number);
      scene.holdBack('land');
      await scene.ci(number, 'success');
      await scene.reach(number, 'tests_passed');
      server.startThread(fullName, number, 'ada');
      await scene.release();
      return staysOut(scene, number);
    },
  },
  {
    name: 'a conversation is resolved before the landing',
    must: 'it lands when CI is green',
    hosts: ['github'],
    set: { settings },
    run: async (scene) => {
      requireResolution(scene);
      const { server, fullName } = scene.host.github!;
      const number = await scene.open();
      server.resolveThread(fullName, number, server.startThread(fullName, number, 'ada'), 'ada');
      await scene.submitOpen(number);
      await lands(scene, number);
      return landed(scene, number);
    },
  },
];
