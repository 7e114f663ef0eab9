import { beforeAll, describe, expect, it, afterAll } from 'vitest';
import { type ErrorCode, errorRegistry } from '#base/error.ts';
import { endpoints, type Operation } from '#contract/endpoint/endpoint.ts';
import { type Client, main, openWorld, pr, widgets, type World } from '../support/harness.ts';

// What another organization may see of the first: nothing. Every endpoint is asked with the first one's own names and ids.
describe('an organization', () => {
  let world: World & { close: () => Promise<void> };
  let owner: Client;
  let stranger: Client;
  let testId: string;
  let landedSha: string;
  let commentId: string;
  let uploadId: string;
  let ownerTokenId: string;
  let endpointId: string;
  const hookUrl = 'http://127.0.0.1:9/';
  const reportQuery = {
    repo: 'sandbox.example/acme/widgets',
    org_url_slug: 'acme',
    sha: 'a'.repeat(40),
    branch: 'secret-branch',
  };

  beforeAll(async () => {
    const allow = { networks: ['127.0.0.1/32'], hosts: [] };
    const config = { secretKey: Buffer.alloc(32, 7), webhook: { allow, timeoutMs: 1_000 } };
    world = await openWorld({ config });
    owner = await world.client('acme');
    stranger = await world.client('globex');
    const hook = { name: 'secret hook', url: `${hookUrl}secret` };
    endpointId = (await owner.call('createWebhookEndpoint', hook)).endpoint.id;
    ownerTokenId = (await owner.call('createToken', { name: 'secret token', scopes: ['read'] })).token.id;
    await owner.call('createQueue', { ...main, mode: 'parallel', requiredStatuses: ['secret-check'] });
    // One that has landed, so that there is a proof to be hidden.
    await owner.call('sandboxCreatePullRequest', {
      repo: widgets,
      pr: { number: 6 },
      title: 'secret landing',
    });
    await owner.call('setImpactedTargets', { ...pr(6), impactedTargets: ['//secret:target'] });
    await owner.call('submitPullRequest', pr(6));
    await world.runJobs();
    const check = { repo: widgets, testRunOf: 6, name: 'secret-check', state: 'success' };
    await owner.call('sandboxSetCheck', check);
    await world.runJobs();
    ({ landedSha } = await owner.call('getLanding', pr(6)));
    await owner.call('sandboxCreatePullRequest', { repo: widgets, pr: { number: 7 }, title: 'secret title' });
    const comment = { repo: widgets, pr: { number: 7 }, author: 'ada', text: 'secret comment' };
    commentId = (await owner.call('sandboxWriteComment', comment)).comment.id;
    await owner.call('submitPullRequest', pr(7));
    await owner.call('setImpactedTargets', { ...pr(7), impactedTargets: ['//secret:target'] });
    const { testCases } = await owner.call('sandboxPutTestCases', {
      repo: widgets,
      testCases: [
        {
          name: 'secret test',
          status: 'flaky',
          quarantineSetting: 'ALWAYS_QUARANTINE',
          failures: [{ summary: 'secret failure', at: new Date().toISOString() }],
        },
      ],
    });
    testId = testCases[0]!.id;
    const enabled = { repo: widgets, org_url_slug: 'acme', settings: { quarantine: { enabled: true } } };
    await owner.call('updateHealthSettings', enabled);
    ({ upload_id: uploadId } = await owner.call('uploadReport', reportQuery));
  });
  afterAll(() => world.close());

  const hour = 3_600_000;
  const page = { page_query: { page_size: 10 } };
  const health = { repo: widgets, org_url_slug: 'globex' };
  const span = () => ({
    start_time: new Date(Date.now() - hour).toISOString(),
    end_time: new Date(Date.now() + hour).toISOString(),
  });

  const range = () => ({ since: span().start_time, until: span().end_time });

  /** For every endpoint what a stranger sends, and what it is told: an error code, or null for an answer that holds nothing. */
  const walks: { readonly [Name in Operation]: readonly [input: () => object, code: ErrorCode | null] } = {
    submitPullRequest: [() => pr(7), 'QUEUE_NOT_FOUND'],
    getPullRequestFromHost: [() => pr(7), 'QUEUE_NOT_FOUND'],
    cancelPullRequest: [() => pr(7), 'QUEUE_NOT_FOUND'],
    restartTestsOnPullRequest: [() => pr(7), 'QUEUE_NOT_FOUND'],
    getSubmittedPullRequest: [() => ({ ...pr(7), includeTimeline: true }), 'QUEUE_NOT_FOUND'],
    getSubmittedPullRequests: [() => ({ ...main, prs: [{ number: 7 }] }), 'QUEUE_NOT_FOUND'],
    listPullRequests: [() => main, 'QUEUE_NOT_FOUND'],
    searchPullRequests: [() => ({ query: '7' }), null],
    listPullRequestsToFix: [() => ({}), null],
    setImpactedTargets: [() => ({ ...pr(7), impactedTargets: 'ALL' }), 'QUEUE_NOT_FOUND'],
    getLanding: [() => ({ ...main, commit: landedSha }), 'QUEUE_NOT_FOUND'],
    getMergeQueueTestingDetails: [() => main, 'QUEUE_NOT_FOUND'],
    listMergeQueueTestingResults: [() => ({ ...main, since: '2020-01-01T00:00:00Z' }), 'QUEUE_NOT_FOUND'],
    updateQueue: [() => ({ ...main, state: 'PAUSED' }), 'QUEUE_NOT_FOUND'],
    deleteQueue: [() => main, 'QUEUE_NOT_FOUND'],
    getQueue: [() => main, 'QUEUE_NOT_FOUND'],
    diagnoseQueue: [() => main, 'QUEUE_NOT_FOUND'],
    getDiagnosis: [() => main, 'QUEUE_NOT_FOUND'],
    proposeTriggers: [() => main, 'QUEUE_NOT_FOUND'],
    checkRepository: [() => main, null],
    getQueueGraph: [() => main, 'QUEUE_NOT_FOUND'],
    listQueues: [() => ({}), null],
    getQueueHistory: [() => ({ ...main, ...range() }), 'QUEUE_NOT_FOUND'],
    getFailurePredictions: [() => main, 'QUEUE_NOT_FOUND'],
    listTrips: [() => ({ ...main, ...range() }), 'QUEUE_NOT_FOUND'],
    listTestRuns: [() => ({ ...main, ...range() }), 'QUEUE_NOT_FOUND'],
    getMergeQueueMetrics: [() => ({ repo: 'acme/widgets', repoHost: 'sandbox.example' }), 'QUEUE_NOT_FOUND'],
    listUnhealthyTests: [() => ({ ...health, ...page, status: 'FLAKY' }), null],
    getTestDetails: [() => ({ ...health, test_id: testId }), 'TEST_CASE_NOT_FOUND'],
    getTestHistory: [() => ({ ...health, test_id: testId }), 'TEST_CASE_NOT_FOUND'],
    getQuarantineSummary: [() => health, null],
    getTestAccuracy: [() => health, null],
    searchTests: [() => ({ org_url_slug: 'globex', query: 'test' }), null],
    listQuarantinedTests: [() => ({ ...health, ...page }), null],
    listFailingTests: [() => ({ ...health, ...page, ...span() }), null],
    linkTicketToTestCase: [
      () => ({ repo: widgets, test_case_id: testId, external_ticket_id: 'X-1' }),
      'TEST_CASE_NOT_FOUND',
    ],
    getOrganization: [() => ({}), null],
    listTokens: [() => ({ includeEnded: true }), null],
    createToken: [() => ({ name: 'theirs', scopes: ['read'] }), null],
    // By now the stranger has reports of a repository of the same name.
    trustCi: [() => ({ name: 'theirs', provider: 'github_actions', repositories: [widgets] }), null],
    revokeToken: [() => ({ tokenId: ownerTokenId }), 'TOKEN_NOT_FOUND'],
    listHostConnections: [() => ({}), null],
    connectHost: [
      () => ({
        kind: 'gitea',
        url: 'https://git.example',
        credentials: { kind: 'token', token: 'obviously-fake' },
      }),
      'GIT_HOST_NOT_ALLOWED',
    ],
    getHostAccess: [() => ({ connectionId: endpointId }), 'CONNECTION_NOT_FOUND'],
    beginAppRegistration: [() => ({ kind: 'github', url: 'https://git.example' }), 'GIT_HOST_NOT_ALLOWED'],
    finishAppRegistration: [() => ({ code: 'code', state: 'theirs' }), 'APP_REGISTRATION_UNKNOWN'],
    useInstallations: [() => ({ connectionId: endpointId }), 'CONNECTION_NOT_FOUND'],
    deleteHostConnection: [() => ({ connectionId: endpointId }), 'CONNECTION_NOT_FOUND'],
    listWebhookEndpoints: [() => ({}), null],
    createWebhookEndpoint: [() => ({ name: 'theirs', url: hookUrl }), null],
    updateWebhookEndpoint: [() => ({ endpointId, enabled: false }), 'WEBHOOK_ENDPOINT_NOT_FOUND'],
    deleteWebhookEndpoint: [() => ({ endpointId }), 'WEBHOOK_ENDPOINT_NOT_FOUND'],
    rotateWebhookSecret: [() => ({ endpointId }), 'WEBHOOK_ENDPOINT_NOT_FOUND'],
    listWebhookDeliveries: [() => ({ endpointId }), 'WEBHOOK_ENDPOINT_NOT_FOUND'],
    replayWebhookDelivery: [() => ({ endpointId, deliveryId: endpointId }), 'WEBHOOK_ENDPOINT_NOT_FOUND'],
    sendTestWebhook: [() => ({ endpointId }), 'WEBHOOK_ENDPOINT_NOT_FOUND'],
    setQuarantine: [
      () => ({ ...health, test_case_id: testId, quarantine_setting: 'NEVER_QUARANTINE' }),
      'TEST_CASE_NOT_FOUND',
    ],
    exportQuarantine: [() => health, null],
    importQuarantine: [
      () => ({ ...health, tests: [{ test_case_id: testId, quarantine_setting: 'NEVER_QUARANTINE' }] }),
      null,
    ],
    flagTest: [() => ({ ...health, test_case_id: testId, status: 'healthy' }), 'TEST_CASE_NOT_FOUND'],
    verifyFix: [() => ({ ...health, test_case_id: testId }), 'TEST_CASE_NOT_FOUND'],
    cancelFixVerification: [() => ({ ...health, test_case_id: testId }), 'TEST_CASE_NOT_FOUND'],
    muteMonitor: [() => ({ ...health, test_case_id: testId, monitor: '*', hours: 1 }), 'TEST_CASE_NOT_FOUND'],
    setTestRename: [
      () => ({ ...health, test_case_id: testId, former_test_case_id: testId, is_rename: true }),
      'TEST_CASE_NOT_FOUND',
    ],
    getHealthSettings: [() => health, null],
    updateHealthSettings: [() => ({ ...health, settings: { quarantine: { enabled: true } } }), null],
    tryHealthSettings: [() => ({ ...health, settings: { quarantine: { enabled: true } } }), null],
    listAuditLog: [() => ({}), null],
    getUpload: [() => ({ ...health, upload_id: uploadId }), 'UPLOAD_NOT_FOUND'],
    listUploads: [() => ({ ...health, ...page }), null],
    getQuarantineConfig: [() => ({ repo: widgets, orgUrlSlug: 'globex', testIdentifiers: [] }), null],
    getTestSelection: [() => ({ repo: widgets, sha: 'a'.repeat(40) }), null],
    listNewTests: [() => ({ repo: widgets, tests: [{ name: 'secret' }] }), null],
    getFileDurations: [() => ({ repo: widgets, sha: 'a'.repeat(40), files: ['secret.test.ts'] }), null],
    createBundleUpload: [() => ({ repo: widgets, orgUrlSlug: 'globex' }), null],
    uploadReport: [() => ({ ...reportQuery, org_url_slug: 'acme' }), 'ORGANIZATION_NOT_FOUND'],
    uploadClientMetrics: [() => ({}), null],
    sandboxGetPullRequest: [() => ({ repo: widgets, pr: { number: 7 } }), null],
    sandboxUpdatePullRequest: [
      () => ({ repo: widgets, pr: { number: 7 }, mergeability: 'not_mergeable' }),
      null,
    ],
    sandboxPushPullRequest: [() => ({ repo: widgets, pr: { number: 7 } }), null],
    sandboxReviewPullRequest: [
      () => ({ repo: widgets, pr: { number: 7 }, by: 'grace', state: 'approved' }),
      null,
    ],
    sandboxWriteComment: [() => ({ repo: widgets, pr: { number: 7 }, author: 'grace', text: 'Hello' }), null],
    sandboxListComments: [() => ({ repo: widgets, pr: { number: 7 } }), null],
    sandboxEditComment: [() => ({ repo: widgets, pr: { number: 7 }, id: commentId, text: 'Better.' }), null],
    sandboxDeleteComment: [() => ({ repo: widgets, pr: { number: 7 }, id: commentId }), null],
    sandboxChangeLabels: [() => ({ repo: widgets, pr: { number: 7 }, add: ['theirs'], by: 'grace' }), null],
    sandboxRemovePullRequest: [() => ({ repo: widgets, pr: { number: 7 } }), null],
    sandboxCreatePullRequest: [() => ({ repo: widgets, pr: { number: 7 }, state: 'closed' }), null],
    sandboxMergePullRequest: [() => ({ repo: widgets, pr: { number: 8 } }), null],
    sandboxCommit: [() => ({ repo: widgets, branch: 'main', files: { 'a.txt': 'a' } }), null],
    sandboxSetCheck: [
      () => ({ repo: widgets, sha: 'a'.repeat(40), name: 'ci/test', state: 'failure' }),
      null,
    ],
    sandboxConfigureRepository: [() => ({ repo: widgets, ci: { mode: 'manual' } }), null],
    sandboxGetRepository: [() => ({ repo: widgets, sha: 'a'.repeat(40) }), null],
    sandboxPutTestCases: [
      () => ({ repo: widgets, testCases: [{ name: 'another', status: 'broken' }] }),
      null,
    ],
    // Last: from here on the stranger has a queue of the same name of its own.
    createQueue: [() => main, null],
  };

  it.each(Object.entries(walks))(
    'shows a stranger nothing of itself through %s',
    async (name, [input, code]) => {
      const operation = name as Operation;
      const told =
        code === null
          ? await stranger.call(operation, input())
          : await stranger.refusal(operation, input(), errorRegistry[code].status);
      expect(JSON.stringify(told)).not.toMatch(/secret/);
      expect((told as { code?: string }).code ?? null).toBe(code);
    },
  );

  it('is walked through every endpoint there is', () => {
    expect(Object.keys(walks).toSorted()).toEqual(Object.keys(endpoints).toSorted());
  });

  it('cannot be named by another’s slug', async () => {
    const input = { repo: widgets, org_url_slug: 'acme', ...page, status: 'FLAKY' };
    expect((await stranger.refusal('listUnhealthyTests', input, 404)).code).toBe('ORGANIZATION_NOT_FOUND');
  });

  it('has its landings to itself, though the other has a queue of the same name', async () => {
    for (const by of [{ pr: { number: 6 } }, { commit: landedSha }]) {
      expect((await stranger.refusal('getLanding', { ...main, ...by }, 404)).code).toBe('LANDING_NOT_FOUND');
      expect(await owner.call('getLanding', { ...main, ...by })).toMatchObject({
        landedSha,
        requiredStatuses: ['secret-check'],
        members: [{ prNumber: 6 }],
      });
    }
  });

  it('has no series in another’s metrics, and was changed by none of this', async () => {
    const metrics = await stranger.call('getMergeQueueMetrics', {});
    expect(metrics.match(/mq_awaiting_mergeability\{[^}]*queue_type="main"\} (\d+)/)?.[1]).toBe('0');
    await world.runJobs();
    expect(await owner.call('getSubmittedPullRequest', pr(7))).toMatchObject({
      state: 'testing',
      prTitle: 'secret title',
      readiness: { hasImpactedTargets: true },
    });
    const { comments } = await owner.call('sandboxListComments', { repo: widgets, pr: { number: 7 } });
    expect(comments).toContainEqual({ id: commentId, author: 'ada', text: 'secret comment' });
    const { pullRequest } = await owner.call('sandboxGetPullRequest', { repo: widgets, pr: { number: 7 } });
    expect(pullRequest.labels).not.toContain('theirs');
    expect(await owner.call('getQueue', main)).toMatchObject({
      state: 'RUNNING',
      requiredStatuses: ['secret-check'],
    });
    const { tests } = await owner.call('listUnhealthyTests', {
      ...health,
      org_url_slug: 'acme',
      ...page,
      status: 'FLAKY',
    });
    expect(tests.map((test) => test.name)).toEqual(['secret test']);
  });
});
