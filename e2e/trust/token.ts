// A token that only uploads decides nothing, and costs the host nothing.

import type { Operation } from '#contract/endpoint.ts';
import type { Situation } from './model.ts';
import { staysUnsubmitted } from './step.ts';

const forbidden: readonly Operation[] = [
  'submitPullRequest',
  'cancelPullRequest',
  'restartTestsOnPullRequest',
  'updateQueue',
  'getQueue',
];

export const tokenSituations: readonly Situation[] = [
  {
    name: 'an upload-only token submits, cancels, restarts, and changes the queue',
    must: 'each call is refused',
    hosts: ['sandbox'],
    run: async (scene) => {
      const number = await scene.openBad();
      const uploader = await scene.world.api(['upload']);
      for (const operation of forbidden) {
        const { status } = await uploader.ask(operation, scene.numbered(number));
        scene.must(status === 403, `${operation} was answered with ${status}`);
      }
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a read-only token submits',
    must: 'the call is refused',
    hosts: ['sandbox'],
    run: async (scene) => {
      const number = await scene.openBad();
      const reader = await scene.world.api(['read']);
      const { status } = await reader.ask('submitPullRequest', scene.numbered(number));
      scene.must(status === 403, `it was answered with ${status}`);
      return staysUnsubmitted(scene, number);
    },
  },
];
