/** What belongs to another organization does not exist: every endpoint, asked with --other-token. */
import { ENDPOINTS, validBody } from './endpoint.ts';
import { brief } from './check.ts';
import { expectEmpty, expectError, expectField, expectOk } from './expect.ts';
import { pick, pickList } from './json.ts';
import { getRecord, makePausedQueue, post, sandbox, submit, type QueueRef, type World } from './world.ts';

const HIDDEN_TITLE = 'Known to the first organization only';

/** What each endpoint must answer when it is asked for something of the first organization. */
const HIDDEN: Readonly<Record<string, string>> = {
  submitPullRequest: 'QUEUE_NOT_FOUND',
  cancelPullRequest: 'QUEUE_NOT_FOUND',
  restartTestsOnPullRequest: 'QUEUE_NOT_FOUND',
  getSubmittedPullRequest: 'QUEUE_NOT_FOUND',
  setImpactedTargets: 'QUEUE_NOT_FOUND',
  getLanding: 'QUEUE_NOT_FOUND',
  getMergeQueueTestingDetails: 'QUEUE_NOT_FOUND',
  deleteQueue: 'QUEUE_NOT_FOUND',
  getQueue: 'QUEUE_NOT_FOUND',
  updateQueue: 'QUEUE_NOT_FOUND',
  listPullRequests: 'QUEUE_NOT_FOUND',
  getSubmittedPullRequests: 'QUEUE_NOT_FOUND',
  listMergeQueueTestingResults: 'QUEUE_NOT_FOUND',
  'flaky-tests/list-unhealthy-tests': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/search-tests': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/get-test-history': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/get-quarantine-summary': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/get-test-details': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/list-quarantined-tests': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/list-failing-tests': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/link-ticket-to-test-case': 'TEST_CASE_NOT_FOUND',
  'flaky-tests/set-quarantine': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/export-quarantine': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/import-quarantine': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/flag-test': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/mute-monitor': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/get-settings': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/update-settings': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/get-upload': 'ORGANIZATION_NOT_FOUND',
  'flaky-tests/list-uploads': 'ORGANIZATION_NOT_FOUND',
  'metrics/getQuarantineConfig': 'ORGANIZATION_NOT_FOUND',
  'metrics/createBundleUpload': 'ORGANIZATION_NOT_FOUND',
};

export async function checkTenancy(world: World): Promise<void> {
  const { otherToken: token } = world.options;
  if (!token) {
    for (const name of Object.keys(HIDDEN))
      world.recorder.skip(`${name} across organizations`, '--other-token');
    return world.recorder.skip('metrics, test cases and names across organizations', '--other-token');
  }
  const other = await post(world, 'getOrganization', {}, { token });
  const otherSlug = String(pick(other.json, 'organization', 'slug'));
  const isOther = otherSlug !== '' && otherSlug !== world.slug;
  if (!world.recorder.check('--other-token is of another organization', isOther, brief(other.json))) return;
  const queue = await makePausedQueue(world, 'tenancy');
  if (world.hasSandbox) {
    await sandbox(world, 'createPullRequest', { repo: queue.repo, pr: { number: 1 }, title: HIDDEN_TITLE });
    await submit(world, queue, 1);
  }
  const before = await post(world, 'getQueue', queue);
  const testId = await makeTestCase(world, queue);
  await walkEndpoints(world, queue, token, testId);
  if (testId !== undefined) await checkTestsAcross(world, queue, token, otherSlug, testId);
  await checkMetricsAcross(world, queue, token);
  const after = await post(world, 'getQueue', queue);
  world.recorder.equal('after all of it the queue is as it was', after.json, before.json, after.asked);
  await checkSameName(world, queue, token);
}

async function makeTestCase(world: World, queue: QueueRef): Promise<string | undefined> {
  if (!world.hasSandbox) return undefined;
  const testCases = ['one', 'two', 'three'].map((name) => ({
    name,
    status: 'flaky',
    quarantineSetting: 'ALWAYS_QUARANTINE',
  }));
  const put = await sandbox(world, 'putTestCases', { repo: queue.repo, testCases });
  return String(pick(put.json, 'testCases', 0, 'id'));
}

async function walkEndpoints(
  world: World,
  queue: QueueRef,
  token: string,
  testId: string | undefined,
): Promise<void> {
  for (const endpoint of ENDPOINTS) {
    const name = endpoint.path.replace('/v1/', '');
    const code = HIDDEN[name];
    if (code === undefined) continue;
    const ids = testId === undefined ? {} : { test_id: testId, test_case_id: testId };
    const body = { ...validBody(endpoint, queue.repo, world.slug), ...ids };
    const answer = await post(world, name, body, { token });
    expectError(world, `${name} across organizations`, answer, 404, code);
    const leak = answer.text.includes(HIDDEN_TITLE);
    world.recorder.check(`${name} tells nothing across organizations`, !leak, answer.text);
  }
}

async function checkTestsAcross(
  world: World,
  queue: QueueRef,
  token: string,
  otherSlug: string,
  testId: string,
): Promise<void> {
  const { repo } = queue;
  const own = { repo, org_url_slug: otherSlug, page_query: { page_size: 2 }, status: 'FLAKY' };
  const details = await post(world, 'flaky-tests/get-test-details', { ...own, test_id: testId }, { token });
  expectError(world, 'a test case under its own slug', details, 404, 'TEST_CASE_NOT_FOUND');
  const listed = await post(world, 'flaky-tests/list-unhealthy-tests', own, { token });
  expectField(world, 'the same repository has no tests there', listed, ['tests'], []);
  const quarantined = await post(world, 'flaky-tests/list-quarantined-tests', own, { token });
  expectField(world, 'and none in quarantine', quarantined, ['quarantined_tests'], []);
  const mine = await post(world, 'flaky-tests/list-unhealthy-tests', { ...own, org_url_slug: world.slug });
  const page_token = pick(mine.json, 'page', 'next_page_token');
  const isToken = typeof page_token === 'string' && page_token !== '';
  world.recorder.check('the first organization has a second page', isToken, brief(mine.json));
  const page_query = { page_size: 2, page_token };
  const stolen = await post(world, 'flaky-tests/list-unhealthy-tests', { ...own, page_query }, { token });
  expectError(world, 'a page token of another organization', stolen, 400, 'INVALID_PAGE_TOKEN');
  const read = await sandbox(world, 'getPullRequest', { repo, pr: { number: 1 } }, { token });
  const title = pick(read.json, 'pullRequest', 'title');
  world.recorder.check('a sandbox repository is per organization', title !== HIDDEN_TITLE, brief(read.json));
}

async function checkMetricsAcross(world: World, queue: QueueRef, token: string): Promise<void> {
  const repo = `${queue.repo.owner}/${queue.repo.name}`;
  const call = { method: 'GET', token } as const;
  const query = { repo, repoHost: queue.repo.host };
  const one = await world.client.send('/v1/getMergeQueueMetrics', { ...call, query });
  expectError(
    world,
    'metrics of a repository elsewhere',
    one,
    404,
    'QUEUE_NOT_FOUND',
    'REPOSITORY_NOT_FOUND',
  );
  const all = await world.client.send('/v1/getMergeQueueMetrics', call);
  const isClean = all.status === 200 && !all.text.includes(queue.repo.name);
  world.recorder.check('metrics of all hold nothing of another organization', isClean, brief(all.text));
}

/** Two organizations may each have a queue for the same branch of the same name. */
async function checkSameName(world: World, queue: QueueRef, token: string): Promise<void> {
  const made = await post(world, 'createQueue', { ...queue, concurrency: 2 }, { token });
  expectOk(world, 'the same name is free in another organization', made);
  const theirs = await post(world, 'getQueue', queue, { token });
  expectField(world, 'their queue is empty', theirs, ['enqueuedPullRequests'], []);
  const ours = await post(world, 'getQueue', queue);
  expectField(world, 'our queue is not changed by it', ours, ['concurrency'], 5);
  if (world.hasSandbox) {
    const missing = await getRecord(world, queue, 1);
    expectField(world, 'our pull request is still there', missing, ['prTitle'], HIDDEN_TITLE);
    const call = { ...queue, pr: { number: 1 } };
    const theirView = await post(world, 'getSubmittedPullRequest', call, { token });
    expectError(world, 'and not in theirs', theirView, 404, 'PULL_REQUEST_NOT_SUBMITTED');
    const count = pickList(ours.json, 'enqueuedPullRequests').length;
    world.recorder.equal('our queue still holds one', count, 1, ours.asked);
  }
  expectEmpty(world, 'their queue can be deleted', await post(world, 'deleteQueue', queue, { token }));
  expectOk(world, 'and ours stays', await post(world, 'getQueue', queue));
}
