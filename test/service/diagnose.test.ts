// What the doctor says over the API.
import { expect, it } from 'vitest';
import { openWorldForTest, widgets } from '../support/harness.ts';

const main = { repo: widgets, targetBranch: 'main' };

it('lists for an administrator what is wrong with a queue, and what to do', async () => {
  const world = await openWorldForTest();
  const admin = await world.client('acme', ['admin', 'read']);
  await admin.call('createQueue', { ...main, requiredStatuses: ['never-reported'] });
  const { findings } = await admin.call('diagnoseQueue', main);
  expect(findings).toContainEqual({
    verdict: 'right',
    what: 'Signalbox may administer the repository.',
    fix: null,
  });
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong');
  expect(wrong).toMatchObject([
    {
      what: expect.stringContaining('“never-reported” is required but did not report recently') as string,
      fix: expect.stringContaining('Check the spelling') as string,
    },
  ]);
});

it('is for administrators, since it may take a dozen calls at the Git host', async () => {
  const world = await openWorldForTest();
  const reader = await world.client('acme', ['read', 'submit']);
  expect(await reader.refusal('diagnoseQueue', main, 403)).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
});

it('checks a repository before it has a queue, and names the checks that a queue could require', async () => {
  const world = await openWorldForTest();
  const admin = await world.client('acme', ['admin', 'read']);
  const before = await admin.call('checkRepository', main);
  expect(before.findings.map(({ what }) => what)).toContain('Signalbox may administer the repository.');
  expect(before).toMatchObject({ requiredChecks: ['ci/test'], reportedChecks: [] });
  expect(before.findings.some(({ what }) => what.includes('webhook'))).toBe(false);
  expect((await admin.call('listQueues', {})).queues).toEqual([]);
  const reader = await world.client('acme', ['read', 'submit']);
  expect(await reader.refusal('checkRepository', main, 403)).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
});
