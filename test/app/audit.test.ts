import { expect, it } from 'vitest';
import { main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';

const subject = 'acme/widgets main';

const entriesOf = async (world: World, filter: object = {}) => {
  const admin = await world.client('acme', ['admin']);
  return (await admin.call('listAuditLog', filter)).entries.map(({ at: _at, ...entry }) => entry);
};

it('keeps who created, changed and deleted a queue, with what was there before', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  const actor = 'api:read-submit-admin-upload';
  await client.call('createQueue', { ...main, concurrency: 3 });
  await client.call('updateQueue', { ...main, concurrency: 7, batch: false, requiredStatuses: ['build'] });
  await client.call('updateQueue', { ...main, state: 'PAUSED' });
  await client.call('updateQueue', { ...main, state: 'PAUSED', concurrency: 7 });
  await client.call('deleteQueue', main);
  const entries = await entriesOf(world);
  expect(entries.slice(1)).toEqual([
    {
      actor,
      action: 'queue.update',
      subject,
      before: { state: 'RUNNING' },
      after: { state: 'PAUSED' },
    },
    {
      actor,
      action: 'queue.update',
      subject,
      before: { concurrency: 3, requiredStatuses: null },
      after: { concurrency: 7, requiredStatuses: ['build'] },
    },
    { actor, action: 'queue.create', subject, before: null, after: { strategy: 'manual', concurrency: 3 } },
  ]);
  expect(entries[0]).toMatchObject({
    action: 'queue.delete',
    subject,
    before: { concurrency: 7 },
    after: null,
  });
});

it('keeps nothing of a change that was refused', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  await client.call('submitPullRequest', pr(1));
  await client.refusal('createQueue', main, 409);
  await client.refusal('deleteQueue', main, 409);
  expect((await entriesOf(world)).map(({ action }) => action)).toEqual(['queue.create']);
});

it('keeps once that a queue stopped by itself', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  const gone = { repo: widgets, targetBranch: 'gone' };
  await client.call('createQueue', main);
  await client.call('submitPullRequest', pr(1));
  await client.call('createQueue', gone);
  await world.runJobs();
  // Looked at again, with nothing new to say.
  await world.makeJobsDue();
  await world.runJobs();
  const reason = 'The Git host has no branch gone. Restore it, then set the queue RUNNING.';
  expect(await entriesOf(world, { action: 'queue.stop' })).toEqual([
    {
      actor: 'queue',
      action: 'queue.stop',
      subject: 'acme/widgets gone',
      before: { state: 'RUNNING', stateReason: null },
      after: { state: 'PAUSED', stateReason: reason },
    },
  ]);
});

it('is found by who, what and when, page by page', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  const reader = await world.client('acme', ['admin', 'read']);
  for (const targetBranch of ['a', 'b', 'c']) {
    await client.call('createQueue', { repo: widgets, targetBranch });
    world.clock.advance(60_000);
  }
  await reader.call('deleteQueue', { repo: widgets, targetBranch: 'b' });
  const subjects = async (filter: object) =>
    (await entriesOf(world, filter)).map((entry) => `${entry.action} ${entry.subject}`);
  expect(await subjects({ actor: 'ADMIN-read' })).toEqual(['queue.delete acme/widgets b']);
  expect(await subjects({ action: 'queue.c' })).toEqual([
    'queue.create acme/widgets c',
    'queue.create acme/widgets b',
    'queue.create acme/widgets a',
  ]);
  expect(await subjects({ subject: 'Widgets B' })).toEqual([
    'queue.delete acme/widgets b',
    'queue.create acme/widgets b',
  ]);
  expect(await subjects({ subject: '%' })).toEqual([]);
  const span = (fromMs: number, toMs: number) => ({
    since: new Date(Date.now() + fromMs).toISOString(),
    until: new Date(Date.now() + toMs).toISOString(),
  });
  expect(await subjects(span(30_000, 90_000))).toEqual(['queue.create acme/widgets b']);

  const first = await client.call('listAuditLog', { action: 'queue.create', take: 2 });
  expect(first.entries.map((entry) => entry.subject)).toEqual(['acme/widgets c', 'acme/widgets b']);
  const next = { action: 'queue.create', take: 2, cursor: first.nextCursor };
  const second = await client.call('listAuditLog', next);
  expect(second.entries.map((entry) => entry.subject)).toEqual(['acme/widgets a']);
  expect(second.nextCursor).toBeUndefined();
  const other = { ...next, action: 'queue.' };
  expect((await client.refusal('listAuditLog', other, 400)).code).toBe('INVALID_PAGE_TOKEN');
});

it('goes on after what one page looks at', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  await world.cell.pool.query(`
    insert into audit (organization_id, at, actor, action, subject)
    select id, now() + i * interval '1 ms', 'many', 'test.flag', 'a test'
    from organization, generate_series(1, 20000) i where slug = 'acme'`);
  const first = await client.call('listAuditLog', { action: 'queue.' });
  expect(first.entries).toEqual([]);
  const second = await client.call('listAuditLog', { action: 'queue.', cursor: first.nextCursor });
  expect(second.entries.map((entry) => entry.subject)).toEqual([subject]);
  expect(second.nextCursor).toBeUndefined();
});

it('is for administrators of its own organization', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  const reader = await world.client('acme', ['read', 'submit', 'upload']);
  expect((await reader.refusal('listAuditLog', {}, 403)).code).toBe('INSUFFICIENT_SCOPE');
  expect((await client.refusal('listAuditLog', { since: 'yesterday' }, 400)).code).toBe('VALIDATION_FAILED');
  const stranger = await world.client('globex');
  expect((await stranger.call('listAuditLog', {})).entries).toEqual([]);
});
