// The actions of the queue's own check at GitHub: what a click does, and for whom.

import { expect, it } from 'vitest';
import type { QueueId } from '#base/id.ts';
import { enqueueStatusComments } from '#db/job/job.ts';
import { widgets } from '../host-contract/github-fixture.ts';
import { openGithubQueue } from './github-queue.ts';

async function openQueue(settings: object = {}) {
  const queue = await openGithubQueue(settings, { webhookUrl: 'http://127.0.0.1:9' });
  const pull = await queue.propose('one');
  await queue.submit(pull.number);
  return { ...queue, ...pull };
}

it('a person with write access cancels, submits the same commit again, and restarts its tests', async () => {
  const { world, client, settle, click, state, number, headSha, see } = await openQueue();
  expect(await state(number)).toBe('testing');
  await click(headSha, 'cancel', 'grace');
  expect(await see(number)).toMatchObject({ state: 'cancelled', conclusionReason: 'USER_REQUESTED' });
  await click(headSha, 'requeue', 'grace');
  expect(await state(number)).toBe('testing');
  const runOf = async () => {
    const answer = await client.call('getMergeQueueTestingDetails', {
      repo: { host: 'github.test', owner: 'acme', name: 'widgets' },
      targetBranch: 'main',
    });
    return 'testRuns' in answer ? answer.testRuns.map(({ testBranchSha }) => testBranchSha) : [];
  };
  // Between its beginning and its end a check is updated every two minutes.
  const { rows } = await world.cell.pool.query<{ queue_id: QueueId }>(
    "update status_comment set written_at = written_at - interval '3 minutes' returning queue_id",
  );
  await enqueueStatusComments(world.cell.db, rows[0]!.queue_id, 'soon');
  await settle();
  const before = await runOf();
  await click(headSha, 'restart', 'grace');
  expect(await state(number)).toBe('testing');
  expect(await runOf()).not.toEqual(before);
});

it('an account without write access is refused as for a comment', async () => {
  const { server, click, state, comments, number, headSha } = await openQueue();
  server.newUser('mallory');
  server.setAccess(widgets, 'mallory', 'read');
  await click(headSha, 'cancel', 'mallory');
  expect(await state(number)).toBe('testing');
  expect((await comments(number)).join('\n')).toContain(
    '`mallory` may not do this: commands need write access',
  );
});

it('a click whose webhook arrives twice counts once', async () => {
  const { click, receiveClick, submit, state, number, headSha } = await openQueue();
  await click(headSha, 'cancel', 'grace');
  await submit(number);
  await receiveClick();
  expect(await state(number)).toBe('testing');
});

it('a commit is not submitted again once the pull request has another head', async () => {
  const { server, settle, click, comments, state, number, headSha } = await openQueue();
  await click(headSha, 'cancel', 'grace');
  await server.commit(widgets, { branch: 'one', files: { 'one.txt': 'other' } });
  await settle();
  await click(headSha, 'requeue', 'grace');
  expect(await state(number)).toBe('cancelled');
  expect((await comments(number)).join('\n')).toContain(`the command names \`${headSha}\``);
});

it('there are no actions where commands are switched off', async () => {
  const { click, headSha } = await openQueue({ commandsEnabled: false });
  await expect(click(headSha, 'cancel', 'grace')).rejects.toThrow('has no action cancel');
});
