// Only an administrator forces, where the queue lets them; a force is on record.

import type { Situation } from './model.ts';
import { landed, lands, says, staysUnsubmitted } from './step.ts';

const hosts = ['github', 'gitea'] as const;
/** Neither host asks for approvals where the account of Signalbox may push. */
const settings = { mergeMethod: 'merge_commit', landingMode: 'fast_forward' };
const rules = { checks: [{ name: 'ci/test' }], approvals: 1 };

export const forceSituations: readonly Situation[] = [
  {
    name: 'an administrator forces a pull request that has no approval',
    must: 'it lands when CI is green; the audit log and the attestation name the force',
    hosts,
    set: { settings, rules },
    run: async (scene) => {
      const number = await scene.open();
      await scene.later();
      await scene.host.comment('ada', number, '/signalbox merge --force');
      const seen = await scene.reach(number, 'testing');
      scene.must(seen === 'testing', `it is ${seen}`);
      await lands(scene, number);
      await landed(scene, number);
      const { entries } = await scene.api.call('listAuditLog', { action: 'pull_request.force' });
      scene.must(entries[0]?.actor === 'ada', `the audit log has ${JSON.stringify(entries)}`);
      const { members } = await scene.api.call('getLanding', scene.numbered(number));
      scene.must(members[0]?.forced === true, `the attestation has ${JSON.stringify(members)}`);
      return 'it landed; the audit log and the attestation name the force';
    },
  },
  {
    name: 'an administrator forces while the queue has `forceEnabled: false`',
    must: 'nothing is submitted, and the answer says that force is switched off',
    hosts,
    set: { settings: { ...settings, forceEnabled: false }, rules },
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.later();
      await scene.host.comment('ada', number, '/signalbox merge --force');
      const did = await staysUnsubmitted(scene, number);
      await says(scene, number, /`--force` is switched off/);
      const { entries } = await scene.api.call('listAuditLog', { action: 'pull_request.force' });
      scene.must(entries.length === 0, `the audit log has ${JSON.stringify(entries)}`);
      return `${did}, and the answer says why`;
    },
  },
];
