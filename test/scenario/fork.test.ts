// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
// Whose code is tested with the secrets of the repository: heads from forks, and heads that change protected paths.

import { describe, expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';
import { sql } from '../support/sql.ts';

const openStory = storyTeller();

const outsider = { fork: 'mallory/widgets', author: 'mallory' };
const people = { '*': 'none', ada: 'write', grace: 'write', mallory: 'write', 'the-reader': 'read' };

type Story = Awaited<ReturnType<typeof openStory>>;

const openWithPeople = (options: Parameters<typeof openStory>[0] = {}) =>
  openStory({ ci: 'auto', ...options, sandbox: { people, ...options.sandbox } });

async function review({ client, numbered, settle }: Story, pr: number, by: string, more: object = {}) {
  await client.call('sandboxReviewPullRequest', { ...numbered(pr), by, state: 'approved', ...more });
  await settle();
}

/** How many test runs with this head were ever asked for: none means that it was in no test branch. */
async function runsWith({ world, repository }: Story, head: string): Promise<number> {
  const rows = await sql(world.cell.db)`select m.test_run_id from test_run_member m
    join queue q on q.id = m.queue_id where q.repository_id = ${repository.id} and m.head_sha = ${head}`;
  return rows.length;
}

describe('a pull request from a fork', () => {
  it('is tested and merged once a person with write access has approved exactly its head', async () => {
    const story = await openWithPeople();
    const { team, expectState, expectMerged, waitingFor } = story;
    await team.submit(1, { ...outsider, files: { 'a.txt': 'a' } });
    await expectState(1, 'not_ready');
    expect(await waitingFor(1)).toMatch(
      /^It comes from the fork mallory\/widgets\. It waits until someone with write access, other than its author, approves commit [0-9a-f]{12}\.$/,
    );
    await review(story, 1, 'grace');
    await expectMerged(1);
  });

  it('is merged at once where a head was approved before it was submitted', async () => {
    const story = await openWithPeople();
    await story.team.propose(1, { ...outsider, files: { 'a.txt': 'a' } });
    await review(story, 1, 'grace');
    await story.team.submit(1);
    await story.expectMerged(1);
  });

  it('is not tested by an approval of its author, of a reader, of a stranger, or of another commit', async () => {
    const story = await openWithPeople();
    const { team, expectState } = story;
    await team.propose(1, { ...outsider, files: { 'a.txt': 'a' } });
    await review(story, 1, 'grace');
    const { pullRequest } = await team.push(1, { 'a.txt': 'other' });
    await team.submit(1);
    await expectState(1, 'not_ready');
    for (const by of ['Mallory', 'the-reader', 'stranger']) await review(story, 1, by);
    await review(story, 1, 'ada', { sha: 'd'.repeat(40) });
    await review(story, 1, 'ada', { state: 'commented' });
    await expectState(1, 'not_ready');
    expect(await runsWith(story, pullRequest.sha)).toBe(0);
    await review(story, 1, 'ada');
    await story.expectMerged(1);
  });

  it('waits again when its approval is withdrawn before it was tested', async () => {
    const story = await openWithPeople({ ci: 'manual', settings: { concurrency: 1 } });
    const { team, expectState, ci } = story;
    await team.submit(1);
    await team.submit(2, { ...outsider, files: { 'a.txt': 'a' } });
    await review(story, 2, 'grace');
    await expectState(2, 'pending');
    await review(story, 2, 'grace', { state: 'changes_requested' });
    await expectState(2, 'not_ready');
    await review(story, 2, 'grace');
    await review(story, 2, 'grace', { state: 'dismissed' });
    await expectState(2, 'not_ready');
    await ci.pass(1);
    await story.expectMerged(1);
    await expectState(2, 'not_ready');
  });

  it('is approved without a webhook: the next polls read the reviews', async () => {
    const story = await openWithPeople();
    const { team, host, time, expectState } = story;
    await team.submit(1, { ...outsider, files: { 'a.txt': 'a' } });
    await host.loseWebhooks();
    await review(story, 1, 'grace');
    await expectState(1, 'not_ready');
    for (let poll = 0; poll < 11; poll += 1) await time.wait();
    await story.expectMerged(1);
  });

  it('does not land when its approval was withdrawn after its tests passed and no webhook reported it', async () => {
    const story = await openWithPeople({ ci: 'manual' });
    const { team, ci, host, time } = story;
    await team.submit(1, { ...outsider, files: { 'a.txt': 'a' } });
    await review(story, 1, 'grace');
    await story.expectState(1, 'testing');
    await host.loseWebhooks();
    await review(story, 1, 'grace', { state: 'dismissed' });
    await host.deliverWebhooks();
    await ci.pass(1);
    await time.wait();
    await story.expectState(1, 'not_ready');
    expect(await story.branchLog()).toEqual([]);
    await review(story, 1, 'grace');
    await ci.pass(1);
    await story.expectMerged(1);
  });

  it('does not land unapproved where the release before recorded it without its fork', async () => {
    const story = await openWithPeople({ ci: 'manual' });
    const { team, ci, time, world, repository } = story;
    await team.submit(1, { ...outsider, files: { 'a.txt': 'a' } });
    await review(story, 1, 'grace');
    await story.expectState(1, 'testing');
    await story.host.loseWebhooks();
    await review(story, 1, 'grace', { state: 'dismissed' });
    await story.host.deliverWebhooks();
    await sql(world.cell.db)`update queue_entry set pr_fork = null
      where queue_id in (select id from queue where repository_id = ${repository.id})`;
    await ci.pass(1);
    await time.wait();
    expect(await story.branchLog()).toEqual([]);
  });

  it('is never tested where the queue refuses forks, and starts where it allows them', async () => {
    const story = await openWithPeople({ settings: { forks: 'refuse' } });
    const { team, expectState, waitingFor } = story;
    const { sha } = await team.propose(1, { ...outsider, files: { 'a.txt': 'a' } });
    await review(story, 1, 'grace');
    await team.submit(1);
    await expectState(1, 'not_ready');
    expect(await waitingFor(1)).toContain('this queue does not test pull requests from forks');
    expect(await runsWith(story, sha)).toBe(0);
    await team.configure({ forks: 'allow' });
    await story.expectMerged(1);
    expect(await runsWith(story, sha)).toBe(1);
  });

  it('holds up nothing that is behind it', async () => {
    const story = await openWithPeople();
    await story.team.submit(1, { ...outsider, files: { 'a.txt': 'a' } });
    for (const pr of [2, 3]) await story.team.submit(pr);
    await story.expectMerged(2, 3);
    await story.expectState(1, 'not_ready');
  });

  it('needs its approval with force too', async () => {
    const story = await openWithPeople();
    const { team, command, world, numbered, client } = story;
    await team.propose(1, { ...outsider, files: { 'a.txt': 'a' } });
    const host = world.deps.hostFor(world.cell.name, story.repo.host)!;
    const pullRequest = (await host.readPullRequest({
      repository: story.repository,
      number: 1,
    }))!;
    const actor = 'user:ada';
    await command(1, {
      kind: 'submit',
      pullRequest,
      priority: null,
      noBatch: false,
      force: true,
      seniority: 1,
      actor,
    });
    await story.expectState(1, 'not_ready');
    expect(await client.call('getSubmittedPullRequest', numbered(1))).toMatchObject({ forceEnqueued: true });
  });
});

describe('a pull request that changes a protected path', () => {
  it.each(['.signalbox.yaml', '.github/workflows/deep/ci.yml', 'docs/CODEOWNERS', 'Jenkinsfile'])(
    'such as %s needs an approval, also from the repository itself',
    async (path) => {
      const story = await openWithPeople();
      const { team, expectState, waitingFor } = story;
      const { sha } = await team.propose(1, { author: 'ada', files: { [path]: 'targets: {}\n' } });
      await team.submit(1);
      await expectState(1, 'not_ready');
      expect(await waitingFor(1)).toContain(`It changes ${path}. It waits until someone with write access`);
      expect(await runsWith(story, sha)).toBe(0);
      await review(story, 1, 'grace');
      await story.expectMerged(1);
    },
  );

  it('needs it also for a file that it removes or moves away', async () => {
    const story = await openWithPeople();
    await story.team.pushToMain({ 'ci/CODEOWNERS': 'x', CODEOWNERS: '* @grace' });
    await story.team.submit(1, { files: { CODEOWNERS: null, 'old/CODEOWNERS': '* @grace' } });
    await story.expectState(1, 'not_ready');
    await story.team.submit(2, { files: { 'ci/CODEOWNERS': null } });
    await story.expectMerged(2);
  });

  it('is as the queue says: other globs count from the next look on', async () => {
    const story = await openWithPeople({ settings: { protectedPaths: ['infra/**'] } });
    const { team, expectState } = story;
    await team.submit(1, { files: { '.github/workflows/ci.yml': 'x' } });
    await story.expectMerged(1);
    await team.submit(2, { files: { 'infra/a/b.tf': 'x' } });
    await expectState(2, 'not_ready');
    await team.configure({ protectedPaths: [] });
    await story.expectMerged(2);
  });

  it('does not get past the direct merge', async () => {
    const story = await openWithPeople({
      settings: { directMergeMode: 'always' },
      sandbox: { people, ciOn: 'all' },
    });
    await story.team.submit(1, { files: { '.signalbox.yaml': 'targets: {}\n' } });
    await story.expectState(1, 'not_ready');
    await review(story, 1, 'grace');
    await story.expectEnd(1, 'merged', 'MERGE_GRAPH_DIRECT_MERGE');
  });

  it('shows no markup of its author in what it waits for', async () => {
    const story = await openWithPeople();
    await story.team.submit(1, { files: { '.github/@acme [x](https:__evil.example) `.yml': 'x' } });
    expect(await story.waitingFor(1)).not.toMatch(/[@`[\]()]/);
  });
});

describe('a test commit', () => {
  it('is compared too: what a head brings can change with the branch', async () => {
    const story = await openWithPeople({ ci: 'manual', settings: { concurrency: 1 } });
    const { team, ci } = story;
    await team.submit(1);
    const { sha } = await team.propose(2, { files: { CODEOWNERS: '* @ada', 'a.txt': 'a' } });
    await team.pushToMain({ CODEOWNERS: '* @ada' });
    await team.submit(2);
    await story.expectState(2, 'pending');
    await team.pushToMain({ CODEOWNERS: null });
    await ci.pass(1);
    await story.expectMerged(1);
    await story.expectState(2, 'not_ready');
    expect(await story.waitingFor(2)).toContain(
      'It changes CODEOWNERS. It waits until someone with write access',
    );
    expect(await story.git('for-each-ref', 'refs/heads/signalbox/')).toBe('');
    await review(story, 2, 'grace');
    await ci.pass(2);
    await story.expectMerged(2);
    expect(await runsWith(story, sha)).toBeGreaterThan(0);
  });
});
