import { describe, expect, it } from 'vitest';
import { built, lines, makeWorld, methods } from '../../../test/support/candidate-world.ts';

describe('a rebase', () => {
  it('keeps each commit with its author, date and message, and leaves out what became empty', async () => {
    const { remote, base, at, pull, build, mirror } = await makeWorld();
    const already = await pull(1, { files: { shared: lines({ 3: 'three' }) } });
    const first = remote.commit({
      parents: [base],
      files: { shared: lines({ 3: 'three' }) },
      message: 'Same',
    });
    const second = remote.commit({
      parents: [first],
      files: { new: 'n' },
      author: 'Émile <emile@example.com>',
      message: 'Second ✓\n',
      at: 1_600_000_000,
    });
    const third = remote.commit({ parents: [second], files: { new: 'm' }, message: 'Third\n' });
    const { sha, commits } = await built(build([already, await at(2, third)], 'rebase'));
    const last = await mirror.commit(sha);
    const before = await mirror.commit(last.parents[0]!);
    expect(last.message).toBe('Third\n');
    expect(before).toMatchObject({ message: 'Second ✓\n', author: { name: 'Émile' } });
    expect(before.raw.author.toString()).toBe('Émile <emile@example.com> 1600000000 +0100');
    expect(before.parents).toEqual([commits[0]!.sha]);
  });

  it('leaves out merges of the branch into the pull request', async () => {
    const { remote, base, at, build, mirror } = await makeWorld();
    const first = remote.commit({ parents: [base], files: { mine: '1' }, message: 'First' });
    const tip = remote.commit({ parents: [base], files: { theirs: '1' }, message: 'Tip' });
    const merge = remote.commit({ parents: [first, tip], files: { theirs: '1' }, message: 'Merge' });
    const last = remote.commit({ parents: [merge], files: { mine: '2' }, message: 'Last' });
    remote.set('refs/heads/main', tip);
    const { sha } = await built(build([await at(1, last)], 'rebase', tip));
    expect((await mirror.commitsBetween(tip, sha)).map(({ message }) => message)).toEqual(['First', 'Last']);
    expect(await mirror.readFile(sha, 'mine')).toBe('2');
  });

  it.each(methods)('%s holds what came in by a merge inside the pull request', async (method) => {
    const { remote, base, at, build, mirror } = await makeWorld();
    const first = remote.commit({ parents: [base], files: { mine: '1' }, message: 'First' });
    const side = remote.commit({ parents: [base], files: { side: '1' }, message: 'Side' });
    const merge = remote.commit({ parents: [first, side], files: { side: '1' }, message: 'Merge' });
    const deep = remote.commit({ parents: [side], files: { deep: '1' }, message: 'Deep' });
    const again = remote.commit({ parents: [merge, deep], files: { deep: '1' }, message: 'Merge' });
    const last = remote.commit({ parents: [again], files: { mine: '2' }, message: 'Last' });
    const { sha } = await built(build([await at(1, last)], method));
    const files = ['mine', 'side', 'deep'].map((path) => mirror.readFile(sha, path));
    expect(await Promise.all(files)).toEqual(['2', '1', '1']);
    const messages = (await mirror.commitsBetween(base, sha)).map(({ message }) => message);
    expect(messages).toHaveLength(method === 'squash' ? 1 : 4);
    expect(messages.at(-1)).toMatch(method === 'squash' ? /^Change 1/ : /^Last/);
  });

  it('refuses what it would give another result for than a merge: a conflict that a merge resolved', async () => {
    const { remote, base, at, build } = await makeWorld();
    const first = remote.commit({ parents: [base], files: { mine: '1' }, message: 'First' });
    const side = remote.commit({ parents: [base], files: { side: '1' }, message: 'Side' });
    const evil = remote.commit({
      parents: [first, side],
      files: { side: '1', only: 'in the merge' },
      message: 'Merge',
    });
    const one = await at(1, evil);
    expect(await build([one], 'rebase')).toEqual({ kind: 'conflict', number: 1, with: 'tip', files: [] });
    for (const method of ['squash', 'merge_commit'] as const)
      expect(await build([one], method)).toMatchObject({ kind: 'built' });
  });

  it('refuses to take back what one ahead of it brought: its own revert is of its own change only', async () => {
    const { remote, base, at, pull, build } = await makeWorld();
    const ahead = await pull(1, { files: { shared: lines({ 3: 'three' }) } });
    const change = remote.commit({ parents: [base], files: { shared: lines({ 3: 'three' }) } });
    const revert = remote.commit({ parents: [change], files: { shared: lines(), mine: '1' } });
    const two = await at(2, revert);
    expect(await build([ahead, two], 'rebase')).toMatchObject({ kind: 'conflict', number: 2, with: 1 });
    expect(await build([two], 'rebase')).toMatchObject({ kind: 'built' });
  });

  it('rewords what would keep CI from running, and nothing else', async () => {
    const { remote, base, at, build, mirror } = await makeWorld();
    const first = remote.commit({ parents: [base], files: { a: '1' }, message: 'Fïrst [skip ci]\n' });
    const last = remote.commit({ parents: [first], files: { a: '2' }, message: 'Last\n' });
    const { sha, commits } = await built(build([await at(1, last)], 'rebase'));
    const messages = (await mirror.commitsBetween(base, sha)).map(({ message }) => message);
    expect(messages).toEqual(['Fïrst (skip ci)\n', 'Last\n']);
    expect(commits).toEqual([expect.objectContaining({ number: 1, isReworded: true })]);
  });

  it('replays a change onto a branch that moved the lines around it', async () => {
    const { remote, base, pull, build, mirror } = await makeWorld();
    const one = await pull(1, { files: { shared: lines({ 20: 'mine' }) } });
    const tip = remote.commit({ parents: [base], files: { shared: `top\n${lines()}` } });
    remote.set('refs/heads/main', tip);
    await mirror.fetch({ branch: 'main', pulls: [] });
    const { sha } = await built(build([one], 'rebase', tip));
    expect(await mirror.readFile(sha, 'shared')).toBe(`top\n${lines({ 20: 'mine' })}`);
  });
});
