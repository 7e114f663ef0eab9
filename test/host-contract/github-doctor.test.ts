// The doctor on a GitHub, from its own answers.
import { describe, expect, it } from 'vitest';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import { examine } from '#host/examine.ts';
import { proposeTriggers } from '#host/trigger-proposal.ts';
import { usualPermissions } from '../github-server/site.ts';
import { openGithub, widgets } from './github-fixture.ts';

type Opened = Awaited<ReturnType<typeof openGithub>>;

async function faultsOf({ host, repository }: Opened, settings: Partial<QueueSettings> = {}) {
  const queue = { targetBranch: 'main', settings: { ...defaultSettings, ...settings } };
  const { findings } = await examine(host, repository, {
    queue,
    webhookUrls: ['https://queue.example/hooks/main_1'],
  });
  return findings
    .filter(({ verdict, what }) => verdict !== 'right' && !what.includes('webhook'))
    .map(({ verdict, what }) => `${verdict}: ${what}`);
}

const workflow = `on:
  push:
    branches: [main, 'signalbox/**']
jobs:
  ci:
    steps: [{ run: ./ci.sh }]
`;

/** A repository in which nothing is wrong for a queue that pushes. */
async function openHealthy(options: Parameters<typeof openGithub>[0] = {}, text = workflow): Promise<Opened> {
  const opened = await openGithub(options);
  const { server } = opened;
  const sha = await server.commit(widgets, { files: { '.github/workflows/ci.yml': text } });
  await server.completeCheckRun(widgets, sha, { name: 'ci', conclusion: 'success' });
  server.addRuleset(widgets, {
    name: 'Checks',
    rules: [
      {
        type: 'required_status_checks',
        parameters: {
          strict_required_status_checks_policy: false,
          required_status_checks: [{ context: 'ci' }],
        },
      },
    ],
  });
  return opened;
}

describe('the doctor on GitHub', () => {
  it('finds nothing wrong with a queue that pushes merge commits to a branch that lets it', async () => {
    expect(await faultsOf(await openHealthy(), { mergeMethod: 'merge_commit' })).toEqual([]);
  });

  it.each([true, false])(
    'is not content with merge commits under linear history (bypassed: %s)',
    async (is) => {
      const opened = await openHealthy();
      const { server } = opened;
      server.addRuleset(widgets, {
        name: 'Line',
        rules: [{ type: 'required_linear_history' }],
        bypassApps: is ? [server.appId] : [],
      });
      expect(await faultsOf(opened, { mergeMethod: 'merge_commit' })).toEqual([
        expect.stringMatching(/^wrong: Nothing can merge under required_linear_history of ruleset “Line”/),
      ]);
    },
  );

  it('is content with the merge call only while nobody else may update the branch', async () => {
    const permissions = {
      metadata: 'read',
      actions: 'write',
      administration: 'write',
      checks: 'write',
      contents: 'write',
      issues: 'write',
      pull_requests: 'write',
      statuses: 'write',
      workflows: 'write',
    } as const;
    const opened = await openHealthy({ permissions });
    const { server, propose } = opened;
    const { headSha } = await propose('one');
    await server.completeCheckRun(widgets, headSha, { name: 'ci', conclusion: 'success' });
    expect(await faultsOf(opened)).toEqual([expect.stringMatching(/^wrong: Other accounts may update main/)]);
    const update = {
      rules: [{ type: 'update', parameters: { update_allows_fetch_and_merge: false } }],
      bypassApps: [server.appId],
    };
    const open = server.addRuleset(widgets, { ...update, bypassAdmins: true });
    expect(await faultsOf(opened)).toHaveLength(1);
    server.removeRuleset(widgets, open);
    server.addRuleset(widgets, update);
    expect(await faultsOf(opened)).toEqual([]);
  });

  it('says that GitHub does not show who may bypass a ruleset to an App that may not edit it', async () => {
    const opened = await openHealthy();
    const { server, propose } = opened;
    const { headSha } = await propose('one');
    await server.completeCheckRun(widgets, headSha, { name: 'ci', conclusion: 'success' });
    const parameters = { update_allows_fetch_and_merge: false };
    server.addRuleset(widgets, { rules: [{ type: 'update', parameters }], bypassApps: [server.appId] });
    expect(await faultsOf(opened)).toEqual([expect.stringMatching(/^warning: The Git host does not show/)]);
  });

  it('warns that the merge call asks for checks on the head of the pull request', async () => {
    expect(await faultsOf(await openHealthy())).toContainEqual(
      expect.stringMatching(/^wrong: The merge call of the Git host requires “ci” on the head/),
    );
  });

  it('reads the workflows of the branch, and what their token may do', async () => {
    const opened = await openHealthy({}, workflow.replace(", 'signalbox/**'", ''));
    expect(await faultsOf(opened, { mergeMethod: 'merge_commit' })).toEqual([
      expect.stringMatching(/^warning: \.github\/workflows\/ci\.yml .*nothing starts it/),
    ]);
    const { host, repository, server } = opened;
    expect(await host.inspect(repository, 'main')).toMatchObject({
      workflowTokenWrites: false,
      othersMayCreateTestBranches: true,
    });
    server.addRuleset(widgets, {
      rules: [{ type: 'creation' }],
      include: ['refs/heads/signalbox/**'],
      bypassApps: [server.appId],
    });
    expect(await host.inspect(repository, 'main')).toMatchObject({ othersMayCreateTestBranches: false });
  });

  it('says what is lost without the permission for actions', async () => {
    const permissions = {
      metadata: 'read',
      administration: 'read',
      checks: 'write',
      contents: 'write',
      issues: 'write',
      pull_requests: 'write',
      statuses: 'write',
      workflows: 'write',
    } as const;
    expect(await faultsOf(await openHealthy({ permissions }), { mergeMethod: 'merge_commit' })).toEqual([
      expect.stringMatching(/^warning: Without the permission `actions: write`/),
    ]);
  });
});

describe('the trigger for test branches on GitHub', () => {
  const missing = workflow.replace(", 'signalbox/**'", '');
  const queue = { targetBranch: 'main', settings: defaultSettings };

  it('is proposed as a pull request', async () => {
    const { host, repository, server } = await openHealthy({}, missing);
    const { pullRequest, byHand } = await proposeTriggers(host, repository, queue);
    expect(byHand).toEqual([]);
    expect(pullRequest).toMatchObject({ isNew: true, url: `${server.url}/acme/widgets/pull/1` });
    const { workflows } = await host.inspect(repository, 'signalbox-trigger/main');
    expect(workflows).toMatchObject([{ text: workflow }]);
    expect(await proposeTriggers(host, repository, queue)).toEqual({
      pullRequest: { ...pullRequest, isNew: false },
      byHand: [],
    });
  });

  it('is left to people with the changed file where the App may not change workflows', async () => {
    const { workflows: _, ...permissions } = usualPermissions;
    const { host, repository, server } = await openHealthy({ permissions }, missing);
    expect(await proposeTriggers(host, repository, queue)).toEqual({
      pullRequest: null,
      byHand: [
        {
          path: '.github/workflows/ci.yml',
          reason: 'GitHub answered with 403: Resource not accessible by integration',
          editorUrl: `${server.url}/acme/widgets/edit/main/.github/workflows/ci.yml`,
          text: workflow,
          isWholeFile: true,
        },
      ],
    });
    expect(await host.inspect(repository, 'signalbox-trigger/main')).toMatchObject({ branchExists: false });
  });

  it('is left to people where a ruleset does not let Signalbox create the branch', async () => {
    const { host, repository, server } = await openHealthy({}, missing);
    server.addRuleset(widgets, { rules: [{ type: 'creation' }], include: ['~ALL'] });
    expect(await proposeTriggers(host, repository, queue)).toMatchObject({
      pullRequest: null,
      byHand: [{ reason: expect.stringMatching(/^GitHub answered with 422: /) as string, text: workflow }],
    });
  });

  it('is left to people with the lines to add where the file cannot be edited safely', async () => {
    const ignoring = missing.replace('branches: [main]', "branches-ignore: ['signalbox/**']");
    const { host, repository } = await openHealthy({}, ignoring);
    expect(await proposeTriggers(host, repository, queue)).toMatchObject({
      pullRequest: null,
      byHand: [{ isWholeFile: false, text: "branches: ['**', '!signalbox/**', 'signalbox/**']\n" }],
    });
  });
});
