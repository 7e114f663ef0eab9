// The decision on reviews, which only GraphQL tells.
import { describe, expect, it } from 'vitest';
import { installed, openGithubServer } from './for-test.ts';
import { startGithubServer } from './server.ts';

const name = 'acme/widgets';

const query = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewDecision } }
}`;

async function openWidgets(open = openGithubServer) {
  const github = await open();
  github.newUser('ada');
  await github.newRepository(name, { access: { ada: 'write' } });
  const { number } = await github.openPullRequest(name, { branch: 'x', files: { x: 'x' } });
  const ask = (text: string, variables: object) =>
    installed(github, { request: {} })
      .request(`POST ${github.url}/api/graphql`, { query: text, variables })
      .then(({ data }) => data as { data?: unknown; errors?: { type?: string; message: string }[] });
  return { github, number, ask };
}

describe('the decision on the reviews of a pull request', () => {
  it('is none where none is asked for, and goes with what reviewers say', async () => {
    const { github, number, ask } = await openWidgets();
    const decision = async () => {
      const { data } = await ask(query, { owner: 'acme', name: 'widgets', number });
      return (data as { repository: { pullRequest: { reviewDecision: string | null } } }).repository
        .pullRequest.reviewDecision;
    };
    expect(await decision()).toBeNull();
    github.protect(name, 'main', { reviews: { approvals: 1, bypass: [] } });
    expect(await decision()).toBe('REVIEW_REQUIRED');
    github.review(name, number, 'ada', 'changes_requested');
    expect(await decision()).toBe('CHANGES_REQUESTED');
    github.approve(name, number, 'ada');
    expect(await decision()).toBe('APPROVED');
    github.review(name, number, 'ada', 'dismissed');
    expect(await decision()).toBe('REVIEW_REQUIRED');
  });

  it('is not found where there is no such pull request', async () => {
    const { ask } = await openWidgets();
    const { errors } = await ask(query, { owner: 'acme', name: 'widgets', number: 99 });
    expect(errors).toMatchObject([{ type: 'NOT_FOUND' }]);
    const other = await ask(query, { owner: 'acme', name: 'gadgets', number: 1 });
    expect(other).toMatchObject({ data: { repository: null }, errors: [{ type: 'NOT_FOUND' }] });
  });
});

describe('a question in GraphQL', () => {
  it('that GitHub would not understand is refused', async () => {
    const { ask } = await openWidgets();
    const { errors } = await ask('{ repository(owner: "acme", name: "widgets") { queue } }', {});
    expect(errors?.[0]?.message).toContain('Cannot query field "queue" on type "Repository"');
  });

  it('that GitHub would answer and this server cannot is a failure', async () => {
    const { github, ask } = await openWidgets(startGithubServer);
    await ask('{ repository(owner: "acme", name: "widgets") { diskUsage } }', {});
    await expect(github.stop()).rejects.toThrow('does not know Repository.diskUsage');
  });
});
