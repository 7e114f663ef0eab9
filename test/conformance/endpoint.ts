/** Every endpoint of the API with its scope and its required fields, for the rules that hold for all of them. */
import type { Repo } from './world.ts';

export type Scope = 'read' | 'submit' | 'admin' | 'upload';

export type Endpoint = {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  /** Any one of these suffices; empty: any valid token. */
  readonly scopes: readonly Scope[];
  /** Dotted paths of what the body must hold. */
  readonly required: readonly string[];
  /** A valid value for what is not common to all. */
  readonly extra: Readonly<Record<string, unknown>>;
};

const REPO = ['repo.host', 'repo.owner', 'repo.name'];
const QUEUE = [...REPO, 'targetBranch'];
const PULL_REQUEST = [...QUEUE, 'pr.number'];
const TEST = [...REPO, 'org_url_slug', 'test_case_id'];
const UPLOAD = [...REPO, 'org_url_slug', 'upload_id'];
const TESTS = [...REPO, 'org_url_slug', 'page_query'];
const RANGE = { since: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z' };

/** A test case and a test run that nobody has. */
export const UNKNOWN_ID = '5f0c6a0e-6a2f-4c8e-9d57-0b6f3a1c2d4e';

function post(
  path: string,
  scopes: readonly Scope[],
  required: readonly string[],
  extra: Readonly<Record<string, unknown>> = {},
): Endpoint {
  return { method: 'POST', path: `/v1/${path}`, scopes, required, extra };
}

export const ENDPOINTS: readonly Endpoint[] = [
  post('getOrganization', [], []),
  post('submitPullRequest', ['submit'], PULL_REQUEST),
  post('getPullRequestFromHost', ['submit'], PULL_REQUEST),
  post('cancelPullRequest', ['submit'], PULL_REQUEST),
  post('restartTestsOnPullRequest', ['submit'], PULL_REQUEST),
  post('getSubmittedPullRequest', ['read'], PULL_REQUEST),
  post('setImpactedTargets', ['submit', 'upload'], [...PULL_REQUEST, 'impactedTargets'], {
    impactedTargets: ['//a'],
  }),
  post('getLanding', ['read'], QUEUE, { pr: { number: 1 } }),
  post('getMergeQueueTestingDetails', ['read'], QUEUE),
  post('createQueue', ['admin'], QUEUE),
  post('deleteQueue', ['admin'], QUEUE),
  post('getQueue', ['read'], QUEUE),
  post('diagnoseQueue', ['admin'], QUEUE),
  post('getDiagnosis', ['admin'], QUEUE),
  post('proposeTriggers', ['admin'], QUEUE),
  post('getQueueGraph', ['read'], QUEUE),
  post('listQueues', ['read'], []),
  post('getQueueHistory', ['read'], [...QUEUE, 'since', 'until'], RANGE),
  post('getFailurePredictions', ['read'], QUEUE),
  post('listTrips', ['read'], [...QUEUE, 'since', 'until'], RANGE),
  post('listTestRuns', ['read'], [...QUEUE, 'since', 'until'], RANGE),
  post('updateQueue', ['admin'], QUEUE),
  post('listPullRequests', ['read'], QUEUE),
  post('getSubmittedPullRequests', ['read'], [...QUEUE, 'prs'], { prs: [{ number: 1 }] }),
  post('listMergeQueueTestingResults', ['read'], [...QUEUE, 'since'], { since: '2026-01-01T00:00:00.000Z' }),
  post('flaky-tests/list-unhealthy-tests', ['read'], [...TESTS, 'status'], { status: 'FLAKY' }),
  post('flaky-tests/search-tests', ['read'], ['org_url_slug', 'query'], { query: 'signal' }),
  post('flaky-tests/get-test-details', ['read'], [...REPO, 'org_url_slug', 'test_id'], {
    test_id: UNKNOWN_ID,
  }),
  post('flaky-tests/get-test-history', ['read'], [...REPO, 'org_url_slug', 'test_id'], {
    test_id: UNKNOWN_ID,
  }),
  post('flaky-tests/get-quarantine-summary', ['read'], [...REPO, 'org_url_slug']),
  post('flaky-tests/get-accuracy', ['read'], [...REPO, 'org_url_slug']),
  post('flaky-tests/list-quarantined-tests', ['read'], TESTS),
  post('flaky-tests/list-failing-tests', ['read'], [...TESTS, 'start_time', 'end_time'], {
    start_time: '2026-01-01T00:00:00.000Z',
    end_time: '2026-01-02T00:00:00.000Z',
  }),
  post('flaky-tests/link-ticket-to-test-case', ['admin'], [...REPO, 'test_case_id', 'external_ticket_id'], {
    test_case_id: UNKNOWN_ID,
    external_ticket_id: 'CONF-1',
  }),
  post('flaky-tests/set-quarantine', ['admin'], [...TEST, 'quarantine_setting'], {
    test_case_id: UNKNOWN_ID,
    quarantine_setting: 'ALWAYS_QUARANTINE',
  }),
  post('flaky-tests/export-quarantine', ['read'], [...REPO, 'org_url_slug']),
  post('flaky-tests/import-quarantine', ['admin'], [...REPO, 'org_url_slug', 'tests'], { tests: [] }),
  post('flaky-tests/flag-test', ['admin'], [...TEST, 'status'], {
    test_case_id: UNKNOWN_ID,
    status: 'flaky',
  }),
  post('flaky-tests/mute-monitor', ['admin'], [...TEST, 'monitor'], {
    test_case_id: UNKNOWN_ID,
    monitor: 'pass_on_retry',
    hours: 1,
  }),
  post('flaky-tests/get-settings', ['read'], [...REPO, 'org_url_slug']),
  post('flaky-tests/update-settings', ['admin'], [...REPO, 'org_url_slug', 'settings'], { settings: {} }),
  post('flaky-tests/try-settings', ['read'], [...REPO, 'org_url_slug', 'settings'], { settings: {} }),
  post('flaky-tests/get-upload', ['upload', 'read', 'submit', 'admin'], UPLOAD, { upload_id: UNKNOWN_ID }),
  post('flaky-tests/list-uploads', ['read'], TESTS),
  post('listAuditLog', ['admin'], []),
  post('metrics/getQuarantineConfig', ['upload', 'read', 'submit', 'admin'], [...REPO, 'orgUrlSlug'], {
    testIdentifiers: [],
  }),
  post('flaky-tests/get-test-selection', ['upload', 'read', 'submit', 'admin'], [...REPO, 'sha'], {
    sha: 'a'.repeat(40),
  }),
  post('flaky-tests/list-new-tests', ['upload', 'read', 'submit', 'admin'], [...REPO, 'tests'], {
    tests: [{ name: 'adds' }],
  }),
  post('flaky-tests/get-file-durations', ['upload', 'submit', 'admin'], [...REPO, 'sha', 'files'], {
    sha: 'a'.repeat(40),
    files: ['tests/test_cart.py'],
  }),
  post('metrics/createBundleUpload', ['upload', 'submit', 'admin'], [...REPO, 'orgUrlSlug']),
  { method: 'GET', path: '/v1/getMergeQueueMetrics', scopes: ['read'], required: [], extra: {} },
];

/** A valid body for the endpoint; it names a queue or a test case that exists only if `repo` has one. */
export function validBody(endpoint: Endpoint, repo: Repo, slug: string): Record<string, unknown> {
  const common: Record<string, unknown> = {
    repo,
    targetBranch: 'main',
    pr: { number: 1 },
    org_url_slug: slug,
    orgUrlSlug: slug,
    page_query: { page_size: 10 },
  };
  const needed = new Set(endpoint.required.map((path) => path.split('.')[0] ?? path));
  const kept = Object.entries(common).filter(([key]) => needed.has(key));
  return { ...Object.fromEntries(kept), ...endpoint.extra };
}
