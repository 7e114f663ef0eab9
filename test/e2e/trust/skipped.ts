// A required check that was skipped did not pass: CI ran nothing. What people meet are four ways to skip.

import type { Situation } from './model.ts';
import { landed, says, staysOut } from './step.ts';

const workflow = (on: string, job: string) => `name: ci
on: ${on}
jobs:
  unit:
    runs-on: ubuntu-latest
    steps: [{ run: ./ci.sh }]
  test:
    name: ci/test
    runs-on: ubuntu-latest
    ${job}
    steps: [{ run: ./ci.sh }]
`;

type Way = { readonly name: string; readonly file: string; readonly cause: RegExp };

const ways: readonly Way[] = [
  {
    name: 'a job that skips drafts',
    file: workflow('[pull_request, push]', 'if: github.event.pull_request.draft == false'),
    cause: /draft/i,
  },
  {
    name: 'a job that runs for `merge_group` only',
    file: workflow('[push, merge_group]', "if: github.event_name == 'merge_group'"),
    cause: /merge_group/,
  },
  {
    name: 'a summary with `needs:` and without `if: always()`',
    file: workflow('[push]', 'needs: [unit]'),
    cause: /needs|always/i,
  },
];

const skipped: readonly Situation[] = ways.map(({ name, file, cause }) => ({
  name: `the required check is skipped: ${name}`,
  must: 'it does not land, and the comment names the check and the likely cause',
  hosts: ['github'],
  // By the first run: the comment says what happened to it.
  set: { files: { '.github/workflows/ci.yml': file }, settings: { strategy: 'manual' } },
  run: async (scene) => {
    const number = await scene.openBad();
    await scene.submitOpen(number);
    if (name.includes('needs')) {
      const { testBranchSha } = await scene.runOf(number);
      await scene.host.report(testBranchSha, { name: 'unit', conclusion: 'failure' });
    }
    await scene.ci(number, 'skipped');
    const did = await staysOut(scene, number);
    await says(scene, number, /ci\/test/);
    await says(scene, number, /skipped/i);
    await says(scene, number, cause);
    return `${did}; the comment names the cause`;
  },
}));

export const skippedSituations: readonly Situation[] = [
  ...skipped,
  {
    name: 'the required check never reports: a path filter',
    must: 'it does not land, and leaves in the end with a reason that does not say that its tests failed',
    hosts: ['github', 'sandbox'],
    set: { settings: { testingTimeoutMinutes: 30 } },
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.submitOpen(number);
      await scene.runOf(number);
      for (let hour = 0; hour < 8; hour += 1) await scene.pass(60);
      const did = await staysOut(scene, number);
      const { state, conclusionReason } = (await scene.see(number))!;
      scene.must(state === 'failed' || state === 'cancelled', `eight hours later it is ${state}`);
      scene.must(conclusionReason !== 'TEST_RUN_REQUIRED_STATUS_FAILED', did);
      return did;
    },
  },
  {
    name: 'the required check is skipped at a real Gitea',
    must: 'it does not land, and the comment names the check',
    hosts: ['gitea'],
    run: async (scene) => {
      const number = await scene.openBad();
      await scene.submitOpen(number);
      await scene.ci(number, 'skipped');
      const did = await staysOut(scene, number);
      await says(scene, number, /ci\/test/);
      return did;
    },
  },
  {
    name: 'the required check is `neutral`',
    must: 'it lands: CI ran, and has no objection',
    hosts: ['github', 'sandbox'],
    run: async (scene) => {
      const number = await scene.submit();
      await scene.ci(number, 'neutral');
      return landed(scene, number);
    },
  },
  {
    name: 'a skipped check that the queue lists in `skippableStatuses`',
    must: 'it lands once the other check is green',
    hosts: ['github', 'sandbox'],
    set: {
      rules: { checks: [{ name: 'ci/test' }, { name: 'ci/docs' }] },
      settings: { skippableStatuses: ['ci/docs'] },
      skippable: ['ci/docs'],
    },
    run: async (scene) => {
      const number = await scene.submit();
      await scene.ci(number, 'skipped', 'ci/docs');
      await staysOut(scene, number);
      await scene.ci(number, 'success', 'ci/test');
      return landed(scene, number);
    },
  },
];
