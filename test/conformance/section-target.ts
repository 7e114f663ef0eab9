/** Impacted targets: their shapes, the head they belong to, and the readiness they give in a parallel queue. */
import { setTimeout as sleep } from 'node:timers/promises';
import { brief } from './check.ts';
import { expectEmpty, expectError, expectField, expectInvalid } from './expect.ts';
import { pick } from './json.ts';
import {
  ADMITTED,
  NEVER_REPORTED,
  freshRepo,
  getRecord,
  makePausedQueue,
  makeQueue,
  post,
  sandbox,
  submit,
  waitForState,
  type QueueRef,
  type World,
} from './world.ts';

function setTargets(world: World, queue: QueueRef, pr: object, impactedTargets: unknown, headers = {}) {
  return post(world, 'setImpactedTargets', { ...queue, pr, impactedTargets }, { headers });
}

export async function checkTargetShapes(world: World): Promise<void> {
  const queue = await makePausedQueue(world, 'target-shape', { mode: 'parallel' });
  const pr = { number: 1 };
  for (const targets of ['SOME', '', 7, null, {}, true, [''], ['x'.repeat(1025)], [1], [null], ['ok', '']]) {
    const answer = await setTargets(world, queue, pr, targets);
    expectInvalid(world, `impactedTargets ${brief(targets, 40)}`, answer, 'impactedTargets');
  }
  const nowhere = { repo: freshRepo(world, 'ghost'), targetBranch: 'main' };
  const lost = await setTargets(world, nowhere, pr, 'ALL');
  expectError(world, 'setImpactedTargets without a queue', lost, 404, 'QUEUE_NOT_FOUND');
  if (!world.hasSandbox) return world.recorder.skip('impacted targets that are accepted', 'no sandbox');
  for (const targets of [
    'ALL',
    'all',
    [],
    ['//a'],
    ['//a', '//a', '//b'],
    ['x'.repeat(1024)],
    ['ünï', '🚦'],
  ]) {
    const answer = await setTargets(world, queue, pr, targets);
    expectEmpty(world, `impactedTargets ${brief(targets, 40)} before submission`, answer);
  }
  const headers = { 'x-forked-workflow-run-id': '12345', 'x-source': 'conformance' };
  expectEmpty(
    world,
    'headers of uploaders are ignored',
    await setTargets(world, queue, pr, ['//a'], headers),
  );
  const empty = { 'x-forked-workflow-run-id': '', 'x-source': '' };
  expectEmpty(world, 'and so are empty ones', await setTargets(world, queue, pr, ['//a'], empty));
  const forked = await world.client.send('/v1/setImpactedTargets', {
    token: null,
    headers,
    body: { ...queue, pr, impactedTargets: ['//a'] },
  });
  expectError(world, 'the headers of a fork replace no token', forked, 401, 'AUTHENTICATION_REQUIRED');
  await sandbox(world, 'removePullRequest', { repo: queue.repo, pr: { number: 2 } });
  const unknown = await setTargets(world, queue, { number: 2 }, 'ALL');
  expectError(world, 'targets of what the host does not know', unknown, 404, 'PULL_REQUEST_NOT_FOUND');
  await checkManyTargets(world, queue);
}

async function checkManyTargets(world: World, queue: QueueRef): Promise<void> {
  const targets = Array.from({ length: 200_000 }, (_, index) => `//service/module-${index}:lib`);
  const startedAt = performance.now();
  const answer = await setTargets(world, queue, { number: 3 }, targets);
  const tookMs = Math.round(performance.now() - startedAt);
  expectEmpty(world, '200,000 targets in one body', answer);
  // One second is for the server; the other is for the way there and back.
  world.recorder.check(
    '200,000 targets are taken quickly',
    tookMs < 2000,
    `took ${tookMs} ms, expected < 2000`,
  );
}

export async function checkTargetReadiness(world: World): Promise<void> {
  if (!world.hasSandbox) return world.recorder.skip('readiness by impacted targets', 'no sandbox');
  const queue = { repo: freshRepo(world, 'target'), targetBranch: 'main' };
  await makeQueue(world, queue, { mode: 'parallel', ...NEVER_REPORTED });
  const number = 1;
  const has = ['readiness', 'hasImpactedTargets'];
  const early = await submit(world, queue, number);
  expectField(
    world,
    'a parallel queue requires targets',
    early,
    ['readiness', 'requiresImpactedTargets'],
    true,
  );
  expectField(world, 'none are there yet', early, has, false);
  await sleep(1200);
  const waits = await getRecord(world, queue, number);
  expectField(world, 'without targets it stays not_ready', waits, ['state'], 'not_ready');
  await setTargets(world, queue, { number, sha: '0000000000000000000000000000000000000bad' }, ['//a']);
  expectField(
    world,
    'targets of another head do not count',
    await getRecord(world, queue, number),
    has,
    false,
  );
  const sha = pick(early.json, 'prSha');
  expectEmpty(
    world,
    'targets of the head by its sha',
    await setTargets(world, queue, { number, sha }, ['//a']),
  );
  expectField(world, 'count', await getRecord(world, queue, number), has, true);
  const admitted = await waitForState(world, queue, number, ADMITTED);
  const isIn = ADMITTED.includes(String(pick(admitted.json, 'state')));
  world.recorder.check('with targets it is admitted', isIn, brief(admitted.json));
  await setTargets(world, queue, { number: 2 }, []);
  const before = await submit(world, queue, 2);
  expectField(world, 'targets may come before the submission, and none is a list too', before, has, true);
  await setTargets(world, queue, { number: 3 }, 'ALL');
  expectField(world, 'ALL counts as set', await submit(world, queue, 3), has, true);
  const wrong = await setTargets(world, queue, { number: 3, sha: 7 }, 'ALL');
  expectInvalid(world, 'pr.sha 7', wrong, 'pr.sha');
  await checkPushNeedsTargets(world);
}

async function checkPushNeedsTargets(world: World): Promise<void> {
  const queue = await makePausedQueue(world, 'target-push', { mode: 'parallel' });
  const pr = { number: 4 };
  await setTargets(world, queue, pr, ['//a']);
  const first = await submit(world, queue, pr.number);
  expectField(world, 'targets of the first head', first, ['readiness', 'hasImpactedTargets'], true);
  await sandbox(world, 'pushPullRequest', { repo: queue.repo, pr });
  await waitForState(world, queue, pr.number, ['cancelled']);
  const second = await submit(world, queue, pr.number);
  expectField(world, 'a push needs a new upload', second, ['readiness', 'hasImpactedTargets'], false);
}
