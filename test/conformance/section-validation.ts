/** Required fields and input leniency, on every endpoint that takes a body. */
import { ENDPOINTS, validBody, type Endpoint } from './endpoint.ts';
import { expectError, expectField, expectInvalid, expectOk } from './expect.ts';
import { freshRepo, getRecord, makeQueue, makePausedQueue, post, submit, type World } from './world.ts';

export async function checkRequiredFields(world: World): Promise<void> {
  for (const endpoint of ENDPOINTS) {
    if (endpoint.required.length === 0) continue;
    const tops = [...new Set(endpoint.required.map((path) => path.split('.')[0] ?? path))];
    const nothing = await world.client.send(endpoint.path, { body: {} });
    expectInvalid(world, `${endpoint.path} with {}`, nothing, ...tops);
    const hollow = await world.client.send(endpoint.path, { body: fill(endpoint, undefined) });
    expectInvalid(world, `${endpoint.path} with hollow objects`, hollow, ...endpoint.required);
    // A list of true is neither a string, a number nor an object, and a wrong element where a list is due.
    const wrong = await world.client.send(endpoint.path, { body: fill(endpoint, [true]) });
    expectInvalid(world, `${endpoint.path} with wrong types`, wrong, ...endpoint.required);
    const flat = await world.client.send(endpoint.path, {
      body: { ...validBody(endpoint, freshRepo(world, 'ghost'), world.slug), repo: 'owner/name' },
    });
    expectInvalid(world, `${endpoint.path} with a string for repo`, flat, 'repo');
  }
}

function fill(endpoint: Endpoint, value: unknown): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const path of endpoint.required) {
    const [top = path, inner] = path.split('.');
    if (inner === undefined) body[top] = value;
    else body[top] = { ...(body[top] as object | undefined), [inner]: value };
  }
  return body;
}

const BAD_NUMBERS: readonly unknown[] = [
  0,
  -1,
  1.5,
  4_294_967_296,
  '0',
  '4294967296',
  'abc',
  '',
  '1e3',
  '-1',
  null,
  true,
  [1],
  {},
];

export async function checkPullRequestNumbers(world: World): Promise<void> {
  const queue = await makePausedQueue(world, 'number');
  for (const number of BAD_NUMBERS) {
    const answer = await post(world, 'getSubmittedPullRequest', { ...queue, pr: { number } });
    expectInvalid(world, `pr.number ${JSON.stringify(number)}`, answer, 'pr.number');
  }
  for (const name of [
    'submitPullRequest',
    'cancelPullRequest',
    'restartTestsOnPullRequest',
    'setImpactedTargets',
  ]) {
    const answer = await post(world, name, { ...queue, pr: { number: 0 }, impactedTargets: 'ALL' });
    expectInvalid(world, `${name} with pr.number 0`, answer, 'pr.number');
  }
  if (!world.hasSandbox) return world.recorder.skip('pr.number at its bounds', 'no sandbox');
  const highest = await submit(world, queue, 4_294_967_295);
  expectField(world, 'pr.number 4294967295 is accepted', highest, ['prNumber'], 4_294_967_295);
  expectField(world, 'pr.number 1 is accepted', await submit(world, queue, 1), ['prNumber'], 1);
  const asText = await submit(world, queue, '77');
  expectField(world, 'pr.number as a string of digits is accepted', asText, ['prNumber'], 77);
  const read = await getRecord(world, queue, 77);
  expectField(world, 'pr.number as a string is the same pull request', read, ['prNumber'], 77);
  const several = await post(world, 'getSubmittedPullRequests', { ...queue, prs: [{ number: '77' }] });
  expectField(world, 'pr.number as a string in a list', several, ['pullRequests', 0, 'prNumber'], 77);
}

export async function checkUnknownKeys(world: World): Promise<void> {
  const repo = freshRepo(world, 'unknown-keys');
  const queue = { repo, targetBranch: 'main' };
  const made = await makeQueue(world, queue, { notASetting: 1, concurrency: 3 });
  expectField(world, 'unknown keys are ignored', made, ['concurrency'], 3);
  const nested = await post(world, 'getQueue', {
    ...queue,
    repo: { ...repo, id: 7, x: {} },
    pr: 'ignored',
    y: null,
  });
  expectOk(world, 'unknown keys inside repo are ignored', nested);
  const slug = world.slug;
  const health = await post(world, 'flaky-tests/list-unhealthy-tests', {
    repo: { ...repo, extra: true },
    org_url_slug: slug,
    page_query: { page_size: 5, cursor: 'x' },
    status: 'FLAKY',
    other: [],
  });
  expectOk(world, 'unknown keys inside page_query are ignored', health);
}

export async function checkRepositoryNames(world: World): Promise<void> {
  const nested = { repo: freshRepo(world, 'nested', 'my-org/sub/group'), targetBranch: 'release/1.x' };
  const made = await makeQueue(world, nested);
  expectField(world, 'an owner may hold slashes', made, ['repo', 'owner'], 'my-org/sub/group');
  expectField(world, 'a branch may hold slashes', made, ['targetBranch'], 'release/1.x');
  const read = await post(world, 'getQueue', nested);
  expectField(world, 'a nested owner is found again', read, ['repo', 'owner'], 'my-org/sub/group');
  const other = await post(world, 'getQueue', { ...nested, repo: { ...nested.repo, owner: 'my-org/sub' } });
  expectError(world, 'another level of the owner is another repository', other, 404, 'QUEUE_NOT_FOUND');
  const shouted = { ...nested, repo: { ...nested.repo, host: 'SANDBOX.Example' } };
  expectOk(world, 'the host is compared without case', await post(world, 'getQueue', shouted));
  const again = await post(world, 'createQueue', shouted);
  expectError(world, 'so a second queue is not made by its case', again, 409, 'QUEUE_ALREADY_EXISTS');
  for (const key of ['host', 'owner', 'name'] as const) {
    const answer = await post(world, 'createQueue', { ...nested, repo: { ...nested.repo, [key]: '' } });
    expectInvalid(world, `an empty repo.${key}`, answer, `repo.${key}`);
  }
  const branch = await post(world, 'createQueue', { ...nested, targetBranch: '' });
  expectInvalid(world, 'an empty targetBranch', branch, 'targetBranch');
}
