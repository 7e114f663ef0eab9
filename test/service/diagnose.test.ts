// What the doctor says over the API.
import { expect, it } from 'vitest';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Cell } from '#db/cell.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { enqueueStaleDiagnoses } from '../../src/job/queue/diagnose.ts';
import { openWorldForTest, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

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

it('keeps what was found last, with its time, for administrators', async () => {
  const world = await openWorldForTest();
  const admin = await world.client('acme', ['admin', 'read']);
  await admin.call('createQueue', { ...main, requiredStatuses: ['never-reported'] });
  expect(await admin.call('getDiagnosis', main)).toEqual({ diagnosis: null });
  const diagnosis = await admin.call('diagnoseQueue', main);
  expect(await admin.call('getDiagnosis', main)).toEqual({ diagnosis });
  const reader = await world.client('acme', ['read', 'submit']);
  expect(await reader.refusal('getDiagnosis', main, 403)).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
});

const countJobs = async ({ db }: Cell): Promise<number> =>
  (await sql(db)`select 1 from graphile_worker.jobs where task_identifier = 'diagnose-queues'`).length;

const pushOf = (branch: string, change: object = {}) =>
  ({ kind: 'branch-moved', repository: widgets, branch, sha: 'a'.repeat(40), ...change }) as const;

it('checks a queue again after a push that changes the workflows of its branch, and with other settings', async () => {
  const world = await openWorldForTest();
  const { cell } = world;
  const admin = await world.client('acme', ['admin', 'read']);
  await admin.call('createQueue', main);
  const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
  await recordHostEvents(cell, organizationId, [pushOf('main'), pushOf('other', { changesWorkflows: true })]);
  expect(await countJobs(cell)).toBe(0);
  await recordHostEvents(cell, organizationId, [pushOf('main', { changesWorkflows: true })]);
  expect(await countJobs(cell)).toBe(1);
  await sql(
    cell.db,
  )`select from graphile_worker.reschedule_jobs((select array_agg(id) from graphile_worker.jobs), now())`;
  await world.runJobs();
  expect((await admin.call('getDiagnosis', main)).diagnosis).not.toBeNull();
  await admin.call('updateQueue', { ...main, state: 'PAUSED' });
  expect(await countJobs(cell)).toBe(0);
  await admin.call('updateQueue', { ...main, requiredStatuses: ['ci/test'] });
  expect(await countJobs(cell)).toBe(1);
});

it('checks every few hours what no webhook reports', async () => {
  const world = await openWorldForTest();
  const { cell } = world;
  const admin = await world.client('acme', ['admin', 'read']);
  await admin.call('createQueue', main);
  const { checkedAt } = await admin.call('diagnoseQueue', main);
  const after = (hours: number) => new Date(Date.parse(checkedAt) + hours * 3_600_000);
  await enqueueStaleDiagnoses(cell.db, after(5));
  expect(await countJobs(cell)).toBe(0);
  await enqueueStaleDiagnoses(cell.db, after(7));
  await enqueueStaleDiagnoses(cell.db, after(7));
  expect(await countJobs(cell)).toBe(1);
});
