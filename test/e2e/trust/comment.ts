// A comment is a command of its author, about the head that its author saw.

import type { Situation } from './model.ts';
import { landed, lands, says, staysUnsubmitted } from './step.ts';

const all = ['github', 'gitea'] as const;

export const commentSituations: readonly Situation[] = [
  {
    name: 'a person with write access comments `/signalbox merge`',
    must: 'the pull request is submitted in the name of that person, and lands when CI is green',
    hosts: all,
    run: async (scene) => {
      const number = await scene.open();
      await scene.later();
      await scene.host.comment('grace', number, '/signalbox merge');
      const seen = await scene.reach(number, 'testing');
      scene.must(seen === 'testing', `it is ${seen}`);
      const actor = (await scene.timeline(number)).at(-1)?.actor;
      scene.must(actor === 'grace', `it was submitted by ${actor}`);
      return lands(scene, number);
    },
  },
  {
    name: 'a person without write access comments `/signalbox merge`',
    must: 'nothing is submitted',
    hosts: all,
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.later();
      await scene.host.comment('mallory', number, '/signalbox merge');
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a person without write access comments `/signalbox cancel`',
    must: 'the entry stays in the queue, and lands when CI is green',
    hosts: all,
    run: async (scene) => {
      const number = await scene.submit();
      await scene.runOf(number);
      await scene.later();
      await scene.host.comment('mallory', number, '/signalbox cancel');
      await scene.settle();
      await scene.poll();
      return lands(scene, number);
    },
  },
  {
    name: 'an old comment of an administrator is edited into a command',
    must: 'an edited comment is no command, by webhook or by polling',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const number = await scene.openBad();
      const id = await scene.host.comment('ada', number, 'Looks good.');
      await scene.settle();
      await scene.later();
      await scene.host.editComment('grace', number, id, '/signalbox merge --force');
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'an old comment is edited into a command, and no webhook arrives',
    must: 'an edited comment is no command',
    hosts: ['github', 'gitea'],
    set: { webhooks: false },
    run: async (scene) => {
      const number = await scene.openBad();
      const id = await scene.host.comment('ada', number, 'Looks good.');
      await scene.later();
      await scene.host.editComment('grace', number, id, '/signalbox merge');
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a person with write access who is no administrator forces a draft',
    must: 'nothing is submitted',
    hosts: all,
    run: async (scene) => {
      const number = await scene.openBad({ draft: true });
      await scene.later();
      await scene.host.comment('grace', number, '/signalbox merge --force');
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a head is pushed after the comment, before the comment is read',
    must: 'the new head is not submitted, and the answer says why',
    hosts: all,
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.later();
      scene.holdBack('handle-comment');
      await scene.host.comment('ada', number, '/signalbox merge');
      await scene.settle();
      await scene.later();
      await scene.push(number, { 'late.txt': 'late\n' });
      await scene.settle();
      await scene.release();
      const did = await staysUnsubmitted(scene, number);
      await says(scene, number, /push/i);
      return `${did}, and the answer says why`;
    },
  },
  {
    name: 'a comment names another commit than the head',
    must: 'nothing is submitted',
    hosts: all,
    run: async (scene) => {
      const number = await scene.openBad();
      const old = scene.headOf(number);
      await scene.push(number, { 'late.txt': 'late\n' });
      await scene.later();
      await scene.host.comment('ada', number, `/signalbox merge ${old}`);
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a comment names the head',
    must: 'it is submitted, and lands when CI is green',
    hosts: ['sandbox'],
    run: async (scene) => {
      const number = await scene.open();
      await scene.later();
      await scene.host.comment('ada', number, `/signalbox merge ${scene.headOf(number)}`);
      const seen = await scene.reach(number, 'testing');
      scene.must(seen === 'testing', `it is ${seen}`);
      return lands(scene, number);
    },
  },
  {
    name: 'the API submits with a sha that is not the head',
    must: 'the call is refused',
    hosts: all,
    run: async (scene) => {
      const number = await scene.openBad();
      const sha = scene.headOf(number);
      await scene.push(number, { 'late.txt': 'late\n' });
      await scene.settle();
      const { status, body } = await scene.api.ask('submitPullRequest', {
        ...scene.main,
        pr: { number, sha },
      });
      scene.must(status >= 400, `it was accepted: ${status}`);
      const did = await staysUnsubmitted(scene, number);
      return `${did}: ${(body as { error: { code: string } }).error.code}`;
    },
  },
  {
    name: 'the API submits with the sha of the head',
    must: 'it is submitted, and lands when CI is green',
    hosts: all,
    run: async (scene) => {
      const number = await scene.open();
      const pr = { number, sha: scene.headOf(number) };
      await scene.api.call('submitPullRequest', { ...scene.main, pr });
      await lands(scene, number);
      return landed(scene, number);
    },
  },
  {
    name: 'a pull request is pushed to while it is under test',
    must: 'the new head does not land by the old submission',
    hosts: all,
    run: async (scene) => {
      const number = await scene.submit();
      await scene.runOf(number);
      await scene.push(number, { 'late.txt': 'late\n' });
      const seen = await scene.reach(number, 'cancelled', 'merged');
      scene.must(seen === 'cancelled', `it is ${seen}`);
      return `it is cancelled (${(await scene.see(number))?.conclusionReason})`;
    },
  },
];
