import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '#base/clock.ts';
import {
  connectionsOf,
  startStub,
  type Stub,
  stubHost,
  stubRepository,
} from '../../../test/host-contract/gitea-stub.ts';
import { createClient } from './client.ts';
import { createPullRequestReader, shown } from './pull-request.ts';
import { recorded } from './recorded.ts';
import { PullRequest } from './schema.ts';

const answered = (name: string) => PullRequest.parse(recorded.answers[name]);

describe('a pull request', () => {
  it('is shown as Gitea has it', () => {
    expect(shown(answered('pullMergeable'), 'mergeable')).toEqual({
      number: 1,
      title: 'Count units',
      body: 'Because.',
      headSha: recorded.webhooks['push']!['after'],
      baseBranch: 'main',
      author: 'ada',
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
  ])('is told apart: %s', (name, facts) => {
    expect(shown(answered(name), 'unspecified')).toMatchObject(facts);
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

  type Word = {
    readonly mergeable: boolean;
    readonly base?: string;
    readonly head?: string;
    readonly ageMs?: number;
  };

  /** Gitea says one word after the other, and the last for ever. */
  async function reader(...words: readonly Word[]) {
    let at = -1;
    let now = 0;
    stub = await startStub(() => {
      at = Math.min(at + 1, words.length - 1);
      const { mergeable, base = 'b1', head = 'h1', ageMs = 0 } = words[at]!;
      const found = answered('pullMergeable');
      const updated_at = new Date(now - ageMs).toISOString();
      const full = { ...(recorded.answers['pullMergeable'] as object), mergeable, updated_at };
      return [200, { ...full, base: { ...found.base, sha: base }, head: { ...found.head, sha: head } }];
    });
    const clock: Clock = { now: () => new Date(now) };
    const connections = connectionsOf(stub.url, { kind: 'token', token: 't' });
    const tokenOf = () => Promise.resolve('t');
    const client = createClient({ host: stubHost, connections, tokenOf, clock, timeoutMs: 1_000 });
    const demandsOf = () =>
      Promise.resolve({ branch: null, rule: null, requiredChecks: null, reviews: null });
    const read = createPullRequestReader({ client, clock, demandsOf });
    return {
      pass: (ms: number) => (now += ms),
      read: async () =>
        (await read({ repository: stubRepository, number: 1, targetBranch: 'main' }))?.mergeability,
    };
  }

  const no = { mergeable: false };

  it('is believed when it is said', async () => {
    const { read } = await reader({ mergeable: true });
    expect(await read()).toBe('mergeable');
    expect(stub!.asked).toHaveLength(1);
  });

  it('is asked for again at once where it may only just have been opened', async () => {
    const { read } = await reader(no, { mergeable: true });
    expect(await read()).toBe('mergeable');
    expect(stub!.asked).toHaveLength(2);
  });

  it('is asked for once where nobody has changed it lately', async () => {
    const { read } = await reader({ mergeable: false, ageMs: 60_000 }, { mergeable: true });
    expect(await read()).toBe('in_progress');
    expect(stub!.asked).toHaveLength(1);
  });

  it('is not denied before it was denied for a while, of the same head on the same base', async () => {
    const { read, pass } = await reader(no);
    expect(await read()).toBe('in_progress');
    expect(stub!.asked).toHaveLength(3);
    pass(4_900);
    expect(await read()).toBe('in_progress');
    expect(stub!.asked).toHaveLength(4);
    pass(100);
    expect(await read()).toBe('not_mergeable');
  });

  it('is open again when the base has moved, or somebody has pushed', async () => {
    const moved = { mergeable: false, base: 'b2' };
    const { read, pass } = await reader(no, no, no, moved, moved, { ...moved, head: 'h2' });
    await read();
    pass(10_000);
    expect(await read()).toBe('in_progress');
    pass(10_000);
    expect(await read()).toBe('not_mergeable');
    expect(await read()).toBe('in_progress');
  });

  it('is denied in the end where the base moves all the time', async () => {
    const words = Array.from({ length: 20 }, (_, index) => ({ mergeable: false, base: `b${index}` }));
    const { read, pass } = await reader(...words);
    const said: unknown[] = [];
    for (let time = 0; time <= 120; time += 15) {
      said.push(await read());
      pass(15_000);
    }
    expect(said).toEqual([...Array.from({ length: 8 }, () => 'in_progress'), 'not_mergeable']);
  });

  it('is known again as soon as Gitea says so', async () => {
    const { read } = await reader(no, no, no, { mergeable: true }, no);
    expect(await read()).toBe('in_progress');
    expect(await read()).toBe('mergeable');
    expect(await read()).toBe('in_progress');
  });
});
