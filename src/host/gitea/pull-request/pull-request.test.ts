import { afterEach, describe, expect, it } from 'vitest';
import {
  connectionsOf,
  startStub,
  type Stub,
  stubHost,
  stubRepository,
} from '../../../../test/host-contract/gitea-stub.ts';
import { createClient } from '../client/client.ts';
import type { Demands } from '../rule/protection.ts';
import { createPullRequestReader, shown } from './pull-request.ts';
import { recorded } from '../recorded.ts';
import { GiteaPullRequest } from '../schema.ts';

const answered = (name: string) => GiteaPullRequest.parse(recorded.answers[name]);

describe('a pull request', () => {
  it('is shown as Gitea has it', () => {
    expect(shown(answered('pullMergeable'), 'mergeable')).toEqual({
      number: 1,
      title: 'Count units',
      body: 'Because.',
      headSha: recorded.webhooks['push']!['after'],
      baseBranch: 'main',
      author: 'ada',
      fork: null,
      url: 'https://gitea.test/ada/widgets/pulls/1',
      mergeability: 'mergeable',
      draft: false,
      state: 'open',
    });
  });

  it.each([
    ['pullDraft', { state: 'open', draft: true, title: 'WIP: Count units' }],
    ['pullMerged', { state: 'merged', draft: false }],
    ['pullClosed', { state: 'closed', draft: false }],
  ])('is distinguished: %s', (name, facts) => {
    expect(shown(answered(name), 'unspecified')).toMatchObject(facts);
  });

  it('is known as that of a fork by the repository of its head', () => {
    const { head, ...rest } = answered('pullMergeable');
    const forkOf = (other: Partial<typeof head>) =>
      shown({ ...rest, head: { ...head, ...other } }, 'mergeable').fork;
    expect(forkOf({ repo_id: 7, repo: { full_name: 'mallory/widgets' } })).toBe('mallory/widgets');
    expect(forkOf({ repo_id: -1, repo: null })).toBe('unknown');
  });

  it('that was pushed to refs/for/ counts as that of a fork: read access was enough', () => {
    const { head, ...rest } = answered('pullMergeable');
    const pushed = { ...head, label: '', ref: 'refs/pull/1/head' };
    expect(shown({ ...rest, head: pushed }, 'mergeable').fork).toBe('unknown');
  });

  it('of an older version is a draft by its title', () => {
    const { draft: _draft, ...old } = answered('pullDraft');
    expect(shown({ ...old, title: '[wip] x' }, 'unspecified').draft).toBe(true);
    expect(shown({ ...old, title: 'Wipe' }, 'unspecified').draft).toBe(false);
  });
});

describe('whether it can be merged', () => {
  let stub: Stub | undefined;
  afterEach(() => stub?.close());

  const noDemands: Demands = { branch: null, rule: null, requiredChecks: null, reviews: null };

  async function read(said: object, demands: Demands = noDemands, reviews: readonly object[] = []) {
    stub = await startStub(({ path }) => [
      200,
      path.includes('/reviews') ? reviews : { ...(recorded.answers['pullMergeable'] as object), ...said },
    ]);
    const connections = connectionsOf(stub.url, { kind: 'token', token: 't' });
    const tokenOf = () => Promise.resolve('t');
    const clock = { now: () => new Date(0) };
    const client = createClient({ host: stubHost, connections, tokenOf, clock, timeoutMs: 1_000 });
    const readOne = createPullRequestReader({ client, demandsOf: () => Promise.resolve(demands) });
    return (await readOne({ repository: stubRepository, number: 1 }))?.mergeability;
  }

  it('is believed when it is said', async () => {
    expect(await read({ mergeable: true })).toBe('mergeable');
    expect(stub!.asked).toHaveLength(1);
  });

  it('is left open when it is denied: Gitea says the same of what it has not looked at', async () => {
    expect(await read({ mergeable: false })).toBe('in_progress');
    expect(stub!.asked).toHaveLength(1);
  });

  it('is denied for a draft and for what is closed', async () => {
    expect(await read({ mergeable: false, draft: true })).toBe('not_mergeable');
    expect(await read({ mergeable: true, state: 'closed' })).toBe('not_mergeable');
  });

  const reviews = { approvals: 1, freshOnly: false, noRejection: false, noRequest: false };

  it.each([true, false])('is denied while reviews are missing, with mergeable %s', async (mergeable) => {
    expect(await read({ mergeable }, { ...noDemands, reviews })).toBe('not_mergeable');
  });
});
