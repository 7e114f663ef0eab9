import { describe, expect, it } from 'vitest';
import { pr, widgets } from '../support/harness.ts';
import { createQueue, openWebhookWorld } from './world.ts';
import { sql } from '../support/sql.ts';

const ofOne = (events: readonly Record<string, unknown>[], number: number) =>
  events.filter((event) => event['pr_number'] === number).map((event) => event['type']);

describe('events of pull requests', () => {
  it('tell a journey in its order, signed, each as the contract says', async () => {
    const world = await openWebhookWorld();
    const { signingSecret: secret } = await world.createEndpoint();
    await createQueue(world.admin);
    await world.submit(1);
    await world.check(1, 'success');
    await world.deliver();
    const events = world.events(secret!);
    expect(ofOne(events, 1)).toEqual([
      'pull_request.submitted',
      'pull_request.queued',
      'pull_request.testing',
      'pull_request.merged',
    ]);
    expect(events[1]).toMatchObject({ queued_reason: 'MERGE_ITEM_NOW_READY', status: 'pending' });
    expect(events[2]).toMatchObject({
      action: 'testing',
      author: 'ada',
      pr_number: 1,
      repository: widgets,
      status: 'testing',
      target_branch: 'main',
      test_branch: expect.stringMatching(/^signalbox\/main\/pr-1\//),
      test_branch_sha: expect.stringMatching(/^[0-9a-f]{40}$/),
      batched: false,
      is_bisection: false,
      http_details_url:
        'http://localhost:8080/app/pull-request?repo=sandbox.example%2Facme%2Fwidgets&branch=main&number=1',
    });
    expect(events[2]).not.toHaveProperty('test_pr_number');
    expect(events[3]).toMatchObject({ merged_reason: 'MERGE_GRAPH_MERGE', status: 'merged' });
    expect(new Set(world.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
  });

  it('tell of failures, cancellations and restarts with their reasons', async () => {
    const world = await openWebhookWorld();
    const { signingSecret: secret } = await world.createEndpoint();
    await createQueue(world.admin);
    await world.submit(1);
    await world.submit(2);
    await world.check(2, 'failure');
    await world.admin.call('restartTestsOnPullRequest', pr(1));
    await world.runJobs();
    await world.check(1, 'failure');
    await world.admin.call('cancelPullRequest', pr(2));
    await world.runJobs();
    await world.deliver();
    const events = world.events(secret!);
    expect(ofOne(events, 2)).toContain('pull_request.pending_failure');
    expect(events.find(({ type }) => type === 'pull_request.failed')).toMatchObject({
      pr_number: 1,
      failure_reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
      test_branch: expect.any(String),
    });
    expect(events.find(({ type }) => type === 'pull_request.canceled')).toMatchObject({
      pr_number: 2,
      status: 'cancelled',
      cancellation_reason: 'USER_REQUESTED',
    });
    expect(events).toContainEqual(
      expect.objectContaining({ pr_number: 1, queued_reason: 'TESTS_RESTARTED_BY_API_REQUEST' }),
    );
    // It begins twice: the run that was restarted is another.
    const begun = events.filter(
      ({ type, pr_number: number }) => type === 'pull_request.testing' && number === 1,
    );
    expect(new Set(begun.map((event) => event['test_branch'])).size).toBe(2);
  });

  it('tell of those that are tested together once for all of them too', async () => {
    const world = await openWebhookWorld();
    const { signingSecret: secret } = await world.createEndpoint({
      eventTypes: ['pull_request_batch.testing', 'PULL_REQUEST_BATCH.merged'],
    });
    await createQueue(world.admin, {
      batch: true,
      batchingMinSize: 2,
      batchingMaxWaitTimeMinutes: 10,
      testingConcurrency: 1,
    });
    for (const number of [1, 2, 3]) {
      await world.admin.call('sandboxCreatePullRequest', { repo: widgets, pr: { number } });
      await world.admin.call('submitPullRequest', pr(number));
    }
    await world.runJobs();
    for (const number of [1, 2, 3]) {
      const { state } = await world.admin.call('getSubmittedPullRequest', pr(number));
      if (state === 'testing') await world.check(number, 'success');
    }
    await world.deliver();
    const events = world.events(secret!);
    const [testing, merged] = events;
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual([
      'pull_request_batch.testing',
      'pull_request_batch.merged',
    ]);
    expect((testing!['pr_numbers'] as number[]).length).toBeGreaterThan(1);
    expect(testing).toMatchObject({ batched: true, status: 'testing' });
    expect(merged!['pr_numbers']).toEqual(testing!['pr_numbers']);
    expect(testing).not.toHaveProperty('pr_number');
  });

  it('are written for nobody: not for another organization, repository or type, and not while disabled', async () => {
    const world = await openWebhookWorld();
    const { admin } = world;
    await createQueue(admin);
    const other = { host: 'sandbox.example', owner: 'acme', name: 'other' };
    await admin.call('createQueue', { repo: other, targetBranch: 'main' });
    const stranger = await world.client('globex');
    await stranger.call('createWebhookEndpoint', { name: 'theirs', url: world.receiver.url });
    await world.createEndpoint({ repositories: [other] });
    await world.createEndpoint({ eventTypes: ['pull_request.merged'] });
    const { endpoint } = await world.createEndpoint();
    await admin.call('updateWebhookEndpoint', { endpointId: endpoint.id, enabled: false });
    await world.submit(1);
    expect(await sql(world.cell.db)`select * from webhook_delivery`).toEqual([]);
    await admin.call('updateWebhookEndpoint', {
      endpointId: endpoint.id,
      enabled: true,
      repositories: [widgets],
    });
    await world.check(1, 'success');
    const rows = await sql<{ type: string }>(world.cell.db)`select type from webhook_delivery`;
    expect(rows.map(({ type }) => type)).toEqual(['pull_request.merged', 'pull_request.merged']);
  });
});

describe('events of tests', () => {
  it('tell what changed, with the test as it is then and who asked for it', async () => {
    const world = await openWebhookWorld();
    const { signingSecret: secret } = await world.createEndpoint();
    const { testCases } = await world.admin.call('sandboxPutTestCases', {
      repo: widgets,
      testCases: [{ name: 'saves a draft', status: 'healthy' }],
    });
    const test_case_id = testCases[0]!.id;
    const test = { repo: widgets, org_url_slug: 'acme', test_case_id };
    await world.admin.call('flagTest', { ...test, status: 'flaky' });
    await world.admin.call('setQuarantine', { ...test, quarantine_setting: 'ALWAYS_QUARANTINE' });
    await world.deliver();
    const [flagged, quarantined] = world.events(secret!);
    expect(flagged).toMatchObject({
      type: 'test_case.status_changed',
      repository: widgets,
      test: {
        id: test_case_id,
        name: 'saves a draft',
        status: { value: 'flaky' },
        quarantine_setting: 'AUTO_QUARANTINE',
      },
      previous: { value: 'healthy' },
      current: { value: 'flaky' },
      trigger: { kind: 'person', actor: expect.stringMatching(/^api:/) },
    });
    expect(quarantined).toMatchObject({
      type: 'test_case.quarantining_setting_changed',
      test: { quarantine_setting: 'ALWAYS_QUARANTINE' },
      previous: { setting: 'AUTO_QUARANTINE' },
      current: { setting: 'ALWAYS_QUARANTINE' },
    });
    const details = await world.admin.call('getTestDetails', {
      repo: widgets,
      org_url_slug: 'acme',
      test_id: test_case_id,
    });
    expect(quarantined!['test']).toEqual(details.test);
  });
});
