/** What happens on the host to a pull request that is submitted, and the conflicts that follow from it. */
import { expectError, expectField, expectInvalid } from './expect.ts';
import { pick } from './json.ts';
import {
  cancel,
  freshRepo,
  makePausedQueue,
  sandbox,
  submit,
  waitForState,
  type QueueRef,
  type World,
} from './world.ts';

type HostEvent = {
  readonly number: number;
  readonly call: string;
  readonly change: object;
  readonly reason: string;
};

const CANCELLING: readonly HostEvent[] = [
  {
    number: 1,
    call: 'updatePullRequest',
    change: { baseBranch: 'elsewhere' },
    reason: 'PR_BASE_BRANCH_CHANGED',
  },
  { number: 2, call: 'pushPullRequest', change: {}, reason: 'PR_PUSHED_TO' },
  { number: 3, call: 'updatePullRequest', change: { state: 'closed' }, reason: 'PR_CLOSED' },
  { number: 4, call: 'updatePullRequest', change: { draft: true }, reason: 'PR_CONVERTED_TO_DRAFT' },
];

export async function checkHostEvents(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('events on the host', 'no sandbox');
  const queue = await makePausedQueue(world, 'host-event');
  const { repo } = queue;
  for (const { number, call, change, reason } of CANCELLING) {
    await submit(world, queue, number);
    await sandbox(world, call, { repo, pr: { number }, ...change });
    const ended = await waitForState(world, queue, number, ['cancelled']);
    expectField(world, `${reason} cancels`, ended, ['state'], 'cancelled');
    expectField(world, `${reason} is told`, ended, ['conclusionReason'], reason);
    expectField(world, `${reason} ends the submission`, ended, ['isCurrentlySubmittedToQueue'], false);
  }
  const closed = await submit(world, queue, 3);
  expectError(world, 'submitting again what was closed', closed, 409, 'PULL_REQUEST_NOT_ENQUEUEABLE');
  await checkPushedHead(world, queue);
  await checkMergedByHand(world, queue);
  await checkSandboxAnswers(world, queue);
  await checkSandboxRepository(world);
  await checkSandboxWords(world);
}

async function checkPushedHead(world: World, queue: QueueRef): Promise<void> {
  const { repo } = queue;
  const pr = { number: 6 };
  const before = await submit(world, queue, pr.number);
  const sha = 'feedface00000000000000000000000000000002';
  await sandbox(world, 'pushPullRequest', { repo, pr, sha });
  await waitForState(world, queue, pr.number, ['cancelled']);
  const after = await submit(world, queue, pr.number);
  expectField(world, 'a new trip is for the new head', after, ['prSha'], sha);
  expectField(world, 'under the same id', after, ['id'], pick(before.json, 'id'));
}

async function checkMergedByHand(world: World, queue: QueueRef): Promise<void> {
  const pr = { number: 5 };
  await submit(world, queue, pr.number);
  await sandbox(world, 'updatePullRequest', { repo: queue.repo, pr, state: 'merged' });
  const merged = await waitForState(world, queue, pr.number, ['merged']);
  expectField(world, 'merged by hand is merged', merged, ['state'], 'merged');
  expectField(world, 'merged by hand is told', merged, ['conclusionReason'], 'MANUAL_MERGE');
  expectField(world, 'merged ends the submission', merged, ['isCurrentlySubmittedToQueue'], false);
  const again = await submit(world, queue, pr.number);
  expectError(world, 'submitting what is merged', again, 409, 'PULL_REQUEST_NOT_ENQUEUEABLE');
  const cancelled = await cancel(world, queue, pr.number);
  expectError(world, 'cancelling what is merged', cancelled, 409, 'PULL_REQUEST_NOT_IN_QUEUE');
  const call = { ...queue, pr };
  const restart = await world.client.send('/v1/restartTestsOnPullRequest', { body: call });
  expectError(world, 'restarting tests of what is merged', restart, 409, 'TESTS_NOT_RESTARTABLE');
}

async function checkSandboxAnswers(world: World, queue: QueueRef): Promise<void> {
  const { repo } = queue;
  const pr = { number: 9 };
  const given = {
    title: 'Scripted',
    sha: 'abad1dea00000000000000000000000000000009',
    baseBranch: 'main',
    author: 'grace',
    mergeability: 'in_progress',
    draft: false,
    state: 'open',
    labels: [],
  };
  const made = await sandbox(world, 'createPullRequest', { repo, pr, ...given });
  expectField(world, 'the sandbox answers what it was told', made, ['pullRequest'], { number: 9, ...given });
  const changed = await sandbox(world, 'updatePullRequest', { repo, pr, title: 'Renamed' });
  expectField(world, 'and changes only what is given', changed, ['pullRequest'], {
    number: 9,
    ...given,
    title: 'Renamed',
  });
  const pushed = await sandbox(world, 'pushPullRequest', { repo, pr });
  const sha = pick(pushed.json, 'pullRequest', 'sha');
  world.recorder.check('a push makes a new head', typeof sha === 'string' && sha !== given.sha, pushed.text);
  const open = await world.client.send('/sandbox/v1/getPullRequest', { token: null, body: { repo, pr } });
  expectError(world, 'the sandbox needs a token', open, 401, 'AUTHENTICATION_REQUIRED');
}

async function checkSandboxRepository(world: World): Promise<void> {
  const repo = freshRepo(world, 'repository');
  const pr = { number: 1 };
  const change = { title: 'A file', files: { 'a.txt': 'a' } };
  const made = await sandbox(world, 'createPullRequest', { repo, pr, ...change });
  expectField(world, 'a pull request of files is open', made, ['pullRequest', 'state'], 'open');
  const merged = await sandbox(world, 'mergePullRequest', { repo, pr });
  expectField(world, 'it can be merged by hand', merged, ['pullRequest', 'state'], 'merged');
  const shown = await sandbox(world, 'getRepository', { repo });
  const main = { name: 'main', sha: pick(merged.json, 'sha') };
  expectField(world, 'and is on its branch then', shown, ['branches'], [main]);
  const both = await sandbox(world, 'setCheck', { repo, name: 'ci', state: 'success' });
  expectInvalid(world, 'a status is of a commit', both, 'sha');
}

async function checkSandboxWords(world: World): Promise<void> {
  const repo = freshRepo(world, 'word');
  const pr = { number: 1 };
  const words = { author: 'grace', text: 'Looks good.' };
  const written = await sandbox(world, 'writeComment', { repo, pr, ...words });
  const id = pick(written.json, 'comment', 'id');
  expectField(world, 'a comment is written', written, ['comment'], { id, ...words });
  const listed = await sandbox(world, 'listComments', { repo, pr });
  expectField(world, 'and can be read', listed, ['comments'], [{ id, ...words }]);
  for (const attempt of ['a comment is deleted', 'deleting it again is no error'])
    expectField(world, attempt, await sandbox(world, 'deleteComment', { repo, pr, id }), [], {});
  const none = await sandbox(world, 'listComments', { repo, pr });
  expectField(world, 'then it is gone', none, ['comments'], []);
  const change = { add: ['b', 'a', 'a'], remove: ['c'], by: 'grace' };
  const labelled = await sandbox(world, 'changeLabels', { repo, pr, ...change });
  expectField(world, 'labels are put on once', labelled, ['pullRequest', 'labels'], ['a', 'b']);
  const off = await sandbox(world, 'changeLabels', { repo, pr, remove: ['a', 'c'], by: 'grace' });
  expectField(world, 'and taken off', off, ['pullRequest', 'labels'], ['b']);
  const people = { Ada: 'admin', '*': 'read' };
  const configured = await sandbox(world, 'configureRepository', { repo, people });
  const kept = { ada: 'admin', '*': 'read' };
  expectField(world, 'people have permissions', configured, ['settings', 'people'], kept);
  const wrong = await sandbox(world, 'configureRepository', { repo, people: { ada: 'owner' } });
  expectInvalid(world, 'a permission is one of four', wrong, 'people.ada');
}
