// What a landing, a poll and a status cost at GitHub, in calls, and that nothing old decides because of it.

import { describe, expect, it } from 'vitest';
import type { StatusComment } from '#host/host.ts';
import { check, counted, openGithub, total, widgets } from './github-fixture.ts';
import { handsOf } from './github-world.ts';

const graphql = 'POST /api/graphql';
const target = { method: 'squash', way: 'merge' } as const;

const reviewRule = {
  type: 'pull_request',
  parameters: {
    required_approving_review_count: 1,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
  },
};
const checkRule = (context: string) => ({
  type: 'required_status_checks',
  parameters: { required_status_checks: [{ context }], strict_required_status_checks_policy: false },
});

/** Rulesets that were changed a moment ago are read whole each time: these are an hour old. */
async function openSettled() {
  let isOld = true;
  const clock = { now: () => new Date(Date.now() - (isOld ? 3_600_000 : 0)) };
  const github = await openGithub({ clock });
  const settle = () => {
    isOld = false;
  };
  return { ...github, settle };
}

type Opened = Awaited<ReturnType<typeof openGithub>>;

/** As a landing reads: the pull request, then the rules, then the required checks. */
async function readForLanding({ host, repository }: Pick<Opened, 'host' | 'repository'>, number: number) {
  const asOf = performance.now();
  const pull = await host.readPullRequest({ repository, number, landing: { branch: 'main', asOf } });
  const rules = await host.readRules(repository, 'main', { ...target, asOf });
  const required = await host.readRequiredChecks(repository, 'main', { asOf });
  return {
    pull,
    rules: rules.map(({ name }) => name),
    required: required?.map(({ name }) => name) ?? [],
    asOf,
  };
}

describe('a landing', () => {
  it('reads pull request, reviews and rules in one call once the rulesets are known', async () => {
    const opened = await openSettled();
    const { server, propose } = opened;
    server.addRuleset(widgets, { rules: [checkRule('test')] });
    opened.settle();
    const { number } = await propose('one');
    await readForLanding(opened, number);
    await server.settled();
    server.forgetCalls();
    const { pull, rules, required } = await readForLanding(opened, number);
    expect(counted(server)).toEqual({ [graphql]: 1 });
    expect(pull).toMatchObject({ number, state: 'open', author: 'ada', mergeability: 'mergeable' });
    expect([rules, required]).toEqual([['required_status_checks'], ['test']]);
  });

  it('reads the rules again when a ruleset has changed, and holds to the new ones', async () => {
    const opened = await openSettled();
    const { server, propose } = opened;
    server.addRuleset(widgets, { rules: [checkRule('test')] });
    opened.settle();
    const { number } = await propose('one');
    await readForLanding(opened, number);
    server.addRuleset(widgets, { rules: [checkRule('lint'), reviewRule] });
    const { pull, required } = await readForLanding(opened, number);
    expect(required).toEqual(['lint', 'test']);
    expect(pull).toMatchObject({ mergeability: 'not_mergeable' });
    server.approve(widgets, number, 'grace');
    await server.settled();
    expect((await readForLanding(opened, number)).pull).toMatchObject({ mergeability: 'mergeable' });
  });

  it('reads rules whole each time where one has a type that GraphQL does not know', async () => {
    const opened = await openSettled();
    const { server, propose } = opened;
    server.addRuleset(widgets, { rules: [checkRule('test'), { type: 'copilot_code_review' }] });
    opened.settle();
    const { number } = await propose('one');
    await readForLanding(opened, number);
    server.forgetCalls();
    const { pull, rules } = await readForLanding(opened, number);
    expect(pull).toMatchObject({ number });
    expect(rules).toEqual(['required_status_checks', 'copilot_code_review']);
    expect(counted(server)).toMatchObject({ [graphql]: 1 });
    expect(total(server)).toBeGreaterThan(1);
  });

  it('reads classic protection each time, because what GraphQL shows of it has no app ids', async () => {
    const opened = await openGithub();
    const { server, propose } = opened;
    server.protect(widgets, 'main', { checks: { strict: false, contexts: ['test'] } });
    const { number } = await propose('one');
    await readForLanding(opened, number);
    server.protect(widgets, 'main', { checks: { strict: false, contexts: ['test', 'lint'] } });
    expect((await readForLanding(opened, number)).required).toEqual(['lint', 'test']);
  });

  it('merges what it has just read in one call, and reads what it has not', async () => {
    const opened = await openGithub();
    const { server, host, repository, propose } = opened;
    const request = async (branch: string) => {
      const { number } = await propose(branch);
      const { pull, asOf } = await readForLanding(opened, number);
      await server.settled();
      const words = { title: branch, message: '' };
      const one = { repository, number, targetBranch: 'main', method: 'squash', ...words } as const;
      return { ...one, headSha: pull!.headSha, asOf };
    };
    const first = await request('one');
    server.forgetCalls();
    expect(await host.merge(first)).toMatchObject({ kind: 'merged' });
    expect(total(server)).toBe(1);
    const { asOf: _, ...second } = await request('two');
    server.forgetCalls();
    expect(await host.merge(second)).toMatchObject({ kind: 'merged' });
    expect(total(server)).toBe(2);
  });
});

it('many pull requests are read in one call, and one that is not there is left out', async () => {
  const { server, host, repository, propose } = await openGithub();
  const numbers: number[] = [];
  for (const branch of ['one', 'two', 'three']) numbers.push((await propose(branch)).number);
  await server.settled();
  server.forgetCalls();
  const found = await host.readPullRequests!({ repository, numbers: [...numbers, 99] });
  expect([...found.keys()]).toEqual(numbers);
  expect(found.get(numbers[1]!)).toMatchObject({
    title: 'Change two',
    baseBranch: 'main',
    fork: null,
    state: 'open',
  });
  expect(counted(server)).toMatchObject({ [graphql]: 1 });
});

it('many pull requests are read one by one from a server that does not know rulesets in GraphQL', async () => {
  const { server, host, repository, propose } = await openGithub();
  const numbers: number[] = [];
  for (const branch of ['one', 'two']) numbers.push((await propose(branch)).number);
  await server.settled();
  const unknown = { data: null, errors: [{ message: "Field 'rules' doesn't exist on type 'Ref'" }] };
  server.tamper((operation, answer) => (operation === graphql ? { ...answer, body: unknown } : answer));
  const query = { repository, landing: { branch: 'main', asOf: performance.now() } };
  const found = await host.readPullRequests!({ ...query, numbers: [...numbers, 99] });
  expect([...found.keys()]).toEqual(numbers);
});

describe('comment and check', () => {
  const comment = (id: string | null, body: string): StatusComment => ({
    id,
    mayExist: false,
    mark: 'signalbox:test',
    body,
  });
  const shown = async ({ server, token }: Pick<Opened, 'server' | 'token'>, number: number, sha: string) => {
    const { listComments, listStatuses } = handsOf(server, widgets, token);
    return {
      comments: (await listComments(number)).map(({ text }) => text.split('\n')[0]),
      checks: (await listStatuses(sha)).map(({ name, state }) => [name, state]),
    };
  };

  it('are written in one call, and changed in one', async () => {
    const opened = await openGithub();
    const { server, host, repository, propose, read } = opened;
    const { number } = await propose('one');
    const sha = (await read(number))!.headSha;
    server.forgetCalls();
    const write = (id: string | null, state: 'pending' | 'success', body: string) =>
      host.writeStatus!(repository, number, {
        sha,
        check: { ...check(state, body), mayExist: id !== null },
        comment: comment(id, body),
      });
    const id = await write(null, 'pending', 'Queued');
    expect(await write(id, 'success', 'Landed')).toBe(id);
    expect(counted(server)).toEqual({ [graphql]: 2 });
    expect(await shown(opened, number, sha)).toEqual({
      comments: ['Landed'],
      checks: [['Signalbox (main)', 'success']],
    });
  });

  it('are written all the same where the comment was deleted meanwhile', async () => {
    const opened = await openGithub();
    const { server, host, repository, propose, read } = opened;
    const { number } = await propose('one');
    const sha = (await read(number))!.headSha;
    const write = (id: string | null, body: string) =>
      host.writeStatus!(repository, number, {
        sha,
        check: { ...check('pending', body), mayExist: id !== null },
        comment: comment(id, body),
      });
    const id = await write(null, 'Queued');
    await handsOf(server, widgets, opened.token).deleteComment(number, id);
    expect(await write(id, 'Testing with main')).not.toBe(id);
    expect((await shown(opened, number, sha)).comments).toEqual(['Testing with main']);
  });
});

it('what CI says of many commits is read in one call, as each of them says it', async () => {
  const { server, host, repository, propose } = await openGithub();
  const shas: string[] = [];
  for (const branch of ['one', 'two']) {
    const { headSha } = await propose(branch);
    await server.completeCheckRun(widgets, headSha, { name: `test ${branch}`, conclusion: 'success' });
    await server.completeCheckRun(widgets, headSha, { name: 'lint', conclusion: null });
    await server.setStatus(widgets, headSha, { context: 'ci/old', state: 'failure' });
    shas.push(headSha);
  }
  const gone = 'f'.repeat(40);
  server.forgetCalls();
  const found = await host.readChecksOf!(repository, [...shas, gone]);
  expect(counted(server)).toEqual({ [graphql]: 1 });
  expect(found.get(gone)).toEqual([]);
  // REST has no creator in the combined status, and another address.
  const comparable = (checks: readonly object[] | undefined) =>
    checks?.map((one) => ({ ...one, url: '', creator: null }));
  for (const sha of shas) {
    expect(found.get(sha)).toHaveLength(3);
    expect(comparable(found.get(sha))).toEqual(comparable(await host.readChecks(repository, sha)));
  }
});
