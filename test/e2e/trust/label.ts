// A label is an act of a named person with write access, and it is about the head that it was put on.

import type { Situation } from './model.ts';
import { lands, staysUnsubmitted } from './step.ts';

const label = 'signalbox-submit';
const onlyWriters =
  'Gitea lets only people with write access label an open pull request (routers/api/v1/repo/issue_label.go)';

export const labelSituations: readonly Situation[] = [
  {
    name: 'a person with write access puts the label on',
    must: 'the pull request is submitted in the name of that person, and lands when CI is green',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const number = await scene.open();
      await scene.later();
      await scene.host.label('ada', number, label, true);
      const seen = await scene.reach(number, 'testing', 'pending');
      scene.must(seen === 'testing' || seen === 'pending', `it is ${seen}`);
      const actor = (await scene.timeline(number)).at(-1)?.actor;
      scene.must(actor === 'ada', `it was submitted by ${actor}`);
      return lands(scene, number);
    },
  },
  {
    name: 'a person without write access puts the label on',
    must: 'nothing is submitted, by webhook or by polling',
    hosts: ['github', 'sandbox'],
    cannot: { gitea: onlyWriters },
    run: async (scene) => {
      await scene.grant('mallory', 'triage');
      const number = await scene.openBad();
      await scene.later();
      await scene.host.label('mallory', number, label, true);
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a person without write access puts the label on, and no webhook arrives',
    must: 'polling does not submit it either',
    hosts: ['github', 'sandbox'],
    cannot: { gitea: onlyWriters },
    set: { webhooks: false },
    run: async (scene) => {
      await scene.grant('mallory', 'triage');
      const number = await scene.openBad();
      await scene.later();
      await scene.host.label('mallory', number, label, true);
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'an outsider opens a pull request with the label on it',
    must: 'nothing is submitted',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      await scene.host.labels(await scene.open()).catch(() => []);
      const isFork = scene.host.kind !== 'sandbox';
      const number = await scene.openBad({ by: 'mallory', fork: isFork, labels: [label] });
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'an outsider opens a pull request with the label on it, and no webhook arrives',
    must: 'nothing is submitted',
    hosts: ['github', 'gitea'],
    set: { webhooks: false },
    run: async (scene) => {
      const isFork = scene.host.kind !== 'sandbox';
      const number = await scene.openBad({ by: 'mallory', fork: isFork, labels: [label] });
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a sticky label: submitted by comment, labelled, then pushed to',
    must: 'the new head is not submitted by the old label',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.later();
      await scene.host.comment('ada', number, '/signalbox merge');
      await scene.reach(number, 'testing');
      await scene.host.label('ada', number, label, true);
      await scene.settle();
      await scene.later();
      await scene.push(number, { 'late.txt': 'late\n' });
      await scene.reach(number, 'cancelled');
      await scene.pass(2);
      await scene.pollComments();
      await scene.pollComments();
      const seen = await scene.state(number);
      scene.must(seen === 'cancelled', `it was submitted again, and is ${seen}`);
      return 'it stays cancelled';
    },
  },
  {
    name: 'a sticky label: labelled, then closed, pushed to and reopened',
    must: 'the new head is not submitted by the old label',
    hosts: ['github'],
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.later();
      await scene.host.label('ada', number, label, true);
      await scene.reach(number, 'testing');
      await scene.host.change(number, { state: 'closed' });
      await scene.reach(number, 'cancelled');
      await scene.later();
      await scene.push(number, { 'late.txt': 'late\n' });
      await scene.host.change(number, { state: 'open' });
      await scene.pass(2);
      await scene.pollComments();
      await scene.pollComments();
      const seen = await scene.state(number);
      scene.must(seen === 'cancelled', `it was submitted again, and is ${seen}`);
      return 'it stays cancelled';
    },
  },
  {
    name: 'the label is put on again after a push',
    must: 'the new head is submitted: that is a new act',
    hosts: ['github'],
    run: async (scene) => {
      const number = await scene.open();
      await scene.later();
      await scene.host.label('ada', number, label, true);
      await scene.reach(number, 'testing');
      await scene.later();
      await scene.push(number, { 'late.txt': 'late\n' });
      await scene.reach(number, 'cancelled');
      await scene.pass(1);
      await scene.host.label('ada', number, label, false);
      await scene.settle();
      await scene.later();
      await scene.host.label('ada', number, label, true);
      const seen = await scene.reach(number, 'testing');
      scene.must(seen === 'testing', `it is ${seen}`);
      return lands(scene, number);
    },
  },
];
