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

it('opens one pull request that adds the trigger for test branches, for administrators, and writes that down', async () => {
  const world = await openWorldForTest();
  const admin = await world.client('acme', ['admin', 'read', 'submit']);
  await admin.call('createQueue', { ...main, requiredStatuses: ['test'] });
  const text = (on: string) => `${on}\njobs:\n  test: { steps: [{ run: make }] } # all of it\n`;
  const path = '.github/workflows/ci.yml';
  const files = { [path]: text('on: [pull_request] # CI') };
  await admin.call('sandboxCommit', { repo: widgets, branch: 'main', files });
  expect(await admin.call('diagnoseQueue', main)).toMatchObject({ untriggered: [path] });
  const { pullRequest, byHand } = await admin.call('proposeTriggers', main);
  expect(byHand).toEqual([]);
  expect(await admin.call('proposeTriggers', main)).toEqual({
    pullRequest: { ...pullRequest, isNew: false },
    byHand: [],
  });
  const { entries } = await admin.call('listAuditLog', { action: 'queue.propose-triggers' });
  expect(entries).toMatchObject([{ subject: 'acme/widgets main', after: { pullRequest: pullRequest!.url } }]);
  await admin.call('sandboxMergePullRequest', {
    repo: widgets,
    pr: { number: pullRequest!.number },
    mergeMethod: 'SQUASH',
  });
  expect(await admin.call('diagnoseQueue', main)).toMatchObject({ untriggered: [] });
  expect(await admin.call('proposeTriggers', main)).toEqual({ pullRequest: null, byHand: [] });
  const writer = await world.client('acme', ['read', 'submit']);
  expect(await writer.refusal('proposeTriggers', main, 403)).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
});
