// The simulated team: opens pull requests, uploads their impacted targets, submits them, cancels some, and
// submits those again that failed without a fault of their own, as their author would.

import { ServiceError } from '#cli/client/transport.ts';
import { type Course, isAbort, keepDoing, pause, type World } from './world.ts';
import type { PlannedChange } from './workload.ts';

const pollMs = 300;
/** Submissions of one pull request; no author would try more often. */
const submissionsMax = 3;

/**
 * Opens the planned pull requests, each at its time, and ends when the plan does. With `lineMax` the team
 * waits while so many are in a queue, and all later ones are delayed by as much: the queue of a demo that
 * runs for hours must not grow without limit.
 */
export async function openPullRequests(
  world: World,
  plan: Iterable<PlannedChange>,
  lineMax = Infinity,
): Promise<void> {
  const begunAt = Date.now();
  const opened: Promise<void>[] = [];
  let heldMs = 0;
  for (const change of plan) {
    const course = findCourse(world, change);
    const dueMs = change.arrivesAtMs + heldMs - (Date.now() - begunAt) * world.speed;
    await pause(world, Math.max(0, dueMs));
    const heldFrom = Date.now();
    while (course.live.size >= lineMax) await pause(world, 500);
    heldMs += (Date.now() - heldFrom) * world.speed;
    const opening = open(world, course, change).catch((error: unknown) => {
      if (!isAbort(error)) world.onProblem(error);
    });
    opened.push(opening);
  }
  await Promise.all(opened);
}

const findCourse = ({ courses }: World, { repository }: PlannedChange): Course =>
  courses.find((course) => course.repository === repository)!;

async function open(world: World, course: Course, change: PlannedChange): Promise<void> {
  const { client } = world;
  const { repository, number, title, author, files, targets, priority, cancelledAfterMs } = change;
  const { repo, targetBranch } = repository;
  const pr = { number };
  course.changes.set(number, change);
  await client.call('sandboxCreatePullRequest', { repo, pr, title, author, baseBranch: targetBranch, files });
  await client.call('setImpactedTargets', { repo, targetBranch, pr, impactedTargets: targets });
  const submittedAt = Date.now();
  await client.call('submitPullRequest', { repo, targetBranch, pr, priority });
  course.live.set(number, { state: 'not_ready', submittedAt, submissions: 1 });
  if (cancelledAfterMs === null) return;
  await pause(world, cancelledAfterMs);
  await client.call('cancelPullRequest', { repo, targetBranch, pr }).catch((error: unknown) => {
    // It has ended in the meantime.
    if (!(error instanceof ServiceError && error.code !== null)) throw error;
  });
}

/** Follows everything that was submitted, until the demo ends. */
export async function watchTeam(world: World): Promise<void> {
  await Promise.all(
    world.courses.map((course) => keepDoing(world, pollMs, () => pollSubmissions(world, course))),
  );
}

const readMax = 50;

async function pollSubmissions(world: World, course: Course): Promise<void> {
  const { repo, targetBranch } = course.repository;
  const numbers = [...course.live.keys()];
  for (let at = 0; at < numbers.length; at += readMax) {
    const prs = numbers.slice(at, at + readMax).map((number) => ({ number }));
    const { pullRequests } = await world.client.call('getSubmittedPullRequests', { repo, targetBranch, prs });
    for (const { prNumber: number, state, stateChangedAt } of pullRequests)
      await note(world, course, number, { state, at: Date.parse(stateChangedAt) });
  }
}

type Seen = { readonly state: string; readonly at: number };

async function note(world: World, course: Course, number: number, { state, at }: Seen): Promise<void> {
  const { live, ends, repository } = course;
  const { submittedAt, submissions } = live.get(number)!;
  if (state !== 'merged' && state !== 'failed' && state !== 'cancelled') {
    live.set(number, { state, submittedAt, submissions });
    return;
  }
  if (state === 'failed' && submissions < submissionsMax && !isGuilty(course, number)) {
    const { repo, targetBranch } = repository;
    await world.client.call('submitPullRequest', { repo, targetBranch, pr: { number } });
    live.set(number, { state: 'not_ready', submittedAt, submissions: submissions + 1 });
    course.resubmitted += 1;
    return;
  }
  live.delete(number);
  ends.set(number, { state, inQueueMs: Math.max(0, at - submittedAt) });
}

/** Whether the pull request must not land, given what has landed or may land before it. */
function isGuilty({ changes, ends }: Course, number: number): boolean {
  const { breaksAlone, breaksWith } = changes.get(number)!;
  const mayBeThere = (other: number) => !['failed', 'cancelled'].includes(ends.get(other)?.state ?? '');
  return (
    breaksAlone ||
    breaksWith.some(mayBeThere) ||
    [...changes.values()].some((later) => later.breaksWith.includes(number) && mayBeThere(later.number))
  );
}
