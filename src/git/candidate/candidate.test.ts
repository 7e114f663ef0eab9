import { describe, expect, it, onTestFinished } from 'vitest';
import { built, lines, makeWorld, methods } from '../../../test/support/candidate-world.ts';
import { temporaryFolder, type CommitSpec } from '../../../test/support/git-remote.ts';
import { buildCandidate, type TestCommitMember } from './candidate.ts';
import { withoutSkipDirectives } from './skip-directive.ts';
import { GitError } from '../error.ts';
import { type Mirror, openMirror } from '../mirror/mirror.ts';

describe.each(methods)('a candidate by %s', (method) => {
  it('has the changes of all members, each on top of those ahead of it', async () => {
    const { pull, build, mirror, base } = await makeWorld();
    const one = await pull(1, { files: { shared: lines({ 2: 'one' }) } });
    const two = await pull(2, { files: { shared: lines({ 20: 'two' }) } });
    const { sha, tree, commits } = await built(build([one, two], method));
    expect(await mirror.readFile(sha, 'shared')).toBe(lines({ 2: 'one', 20: 'two' }));
    expect(commits.map(({ number }) => number)).toEqual([1, 2]);
    expect(commits.at(-1)).toEqual({ number: 2, sha, tree });
    expect(await mirror.treeOf(sha)).toBe(tree);
    expect((await mirror.parentsOf(sha))[0]).toBe(commits[0]!.sha);
    expect((await mirror.parentsOf(commits[0]!.sha))[0]).toBe(base);
    expect(await mirror.readFile(commits[0]!.sha, 'shared')).toBe(lines({ 2: 'one' }));
  });

  it('is the same bit for bit when another mirror builds it', async () => {
    const { pull, build, remote } = await makeWorld();
    const members = [
      await pull(1, { files: { shared: lines({ 2: 'one' }) } }),
      await pull(2, { files: { shared: lines({ 20: 'two' }) } }),
    ];
    const first = await built(build(members, method));
    const again = await openMirror(`${temporaryFolder()}/again.git`, { url: remote.path });
    onTestFinished(again.close);
    await again.fetch({
      branch: 'main',
      pulls: members.map(({ number, headSha }) => ({ number, sha: headSha })),
    });
    const base = remote.git('rev-parse', 'main');
    expect(await buildCandidate(again, { base, members, method })).toEqual(first);
  });

  it('is the same whether it is built at once or on top of what has landed', async () => {
    const { pull, build } = await makeWorld();
    const one = await pull(1, { files: { shared: lines({ 2: 'one' }) } });
    const two = await pull(2, { files: { shared: lines({ 20: 'two' }) } });
    const whole = await built(build([one, two], method));
    const rest = await built(build([two], method, whole.commits[0]!.sha));
    expect(rest.sha).toBe(whole.sha);
  });

  it('of a run of some tests has the same tree and parents, names the tests, and is another commit', async () => {
    const { pull, mirror, base, remote } = await makeWorld();
    const members = [
      await pull(1, { files: { shared: lines({ 2: 'one' }) } }),
      await pull(2, { files: { shared: lines({ 20: 'two' }) } }),
    ];
    const whole = await built(buildCandidate(mirror, { base, members, method }));
    const tests = [
      { file: 'a.test.ts', classname: 'cart', name: 'adds [skip ci] ***NO_CI***\nä' },
      { file: '', classname: '', name: 'removes' },
    ];
    const some = { base, members, method, selection: { count: 2, tests } };
    const { sha, tree, commits } = await built(buildCandidate(mirror, some));
    expect({ sha, tree }).toEqual({ sha: commits[1]!.sha, tree: whole.tree });
    expect(sha).not.toBe(whole.sha);
    expect(commits[0]).toEqual(whole.commits[0]);
    expect(await mirror.parentsOf(sha)).toEqual(await mirror.parentsOf(whole.sha));
    const { message } = await mirror.commit(sha);
    const [first, second] = [...message.matchAll(/^Signalbox-Test: (.*)$/gm)].map(([, json]) => json!);
    expect([first!, second!].map((json) => JSON.parse(json) as object)).toEqual(tests);
    expect(withoutSkipDirectives(first!)).toBe(first);
    expect(await mirror.push([{ ref: 'refs/heads/test', from: null, to: sha }])).toEqual({ kind: 'pushed' });
    const trailers = remote.git(
      'log',
      '-1',
      '--format=%(trailers:key=Signalbox-Test-Count,valueonly)',
      'test',
    );
    expect(trailers.trim()).toBe('2');
    expect(await buildCandidate(mirror, { base, members, method })).toEqual(whole);
  });

  it('of a run of some tests differs from that of all tests even if no test is known any more', async () => {
    const { pull, mirror, base } = await makeWorld();
    const members = [await pull(1, { files: { new: 'x' } })];
    const shas = [undefined, { count: 2, tests: [] }, { count: 3, tests: [] }].map(async (selection) => {
      const request = { base, members, method, ...(selection === undefined ? {} : { selection }) };
      return (await built(buildCandidate(mirror, request))).sha;
    });
    expect(new Set(await Promise.all(shas)).size).toBe(3);
  });

  it('is whole and valid to git, and can be pushed', async () => {
    const { pull, build, mirror, base, remote } = await makeWorld();
    const { sha } = await built(build([await pull(1, { files: { new: 'x' } })], method));
    expect(await mirror.push([{ ref: 'refs/heads/main', from: base, to: sha }])).toEqual({ kind: 'pushed' });
    expect(remote.git('fsck', '--strict', '--no-dangling')).toBe('');
    expect(remote.git('rev-parse', 'main')).toBe(sha);
  });

  it('names the tip if a member conflicts with it', async () => {
    const { pull, build, remote, mirror, base } = await makeWorld();
    const one = await pull(1, { files: { other: lines({ 9: 'fine' }) } });
    const two = await pull(2, { files: { shared: lines({ 5: 'theirs' }) } });
    const tip = remote.commit({ parents: [base], files: { shared: lines({ 5: 'ours' }) } });
    remote.set('refs/heads/main', tip);
    await mirror.fetch({ branch: 'main', pulls: [] });
    const conflict = { kind: 'conflict', number: 2, with: 'tip', files: ['shared'] };
    expect(await build([one, two], method, tip)).toEqual(conflict);
    expect(await build([two], method, tip)).toEqual(conflict);
  });

  it('names the first member ahead with which a member alone conflicts', async () => {
    const { pull, build } = await makeWorld();
    const members = [
      await pull(1, { files: { other: lines({ 1: 'x' }) } }),
      await pull(2, { files: { shared: lines({ 5: 'two' }) } }),
      await pull(3, { files: { other: lines({ 25: 'y' }) } }),
      await pull(4, { files: { shared: lines({ 5: 'four' }) } }),
    ];
    expect(await build(members, method)).toEqual({ kind: 'conflict', number: 4, with: 2, files: ['shared'] });
  });

  it('has a commit for a member that changes nothing', async () => {
    const { pull, build, at, base, mirror } = await makeWorld();
    const one = await pull(1, { files: { shared: lines({ 5: 'same' }) } });
    const two = await pull(2, { files: { shared: lines({ 5: 'same' }) } });
    const contained = await at(3, base);
    const { commits, sha } = await built(build([one, two, contained], method));
    expect(new Set(commits.map((commit) => commit.sha)).size).toBe(3);
    expect(new Set(commits.map((commit) => commit.tree)).size).toBe(1);
    expect((await mirror.commit(sha)).message).toContain('#3');
  });

  it('takes renames, modes, links, binaries and odd names', async () => {
    const { pull, build, mirror, remote } = await makeWorld({
      'old/name.txt': lines(),
      'tool.sh': 'x',
      'logo.bin': Buffer.from([0, 1, 2, 255]),
    });
    const one = await pull(1, { files: { 'old/name.txt': null, 'new/näme with space.txt': lines() } });
    const two = await pull(2, { files: { 'old/name.txt': lines({ 3: 'edited' }) } });
    const three = await pull(3, {
      files: {
        'tool.sh': { mode: '100755', text: 'x' },
        link: { mode: '120000', text: 'tool.sh' },
        'logo.bin': Buffer.from([9, 0, 9]),
      },
    });
    const { sha } = await built(build([one, two, three], method));
    expect(await mirror.readFile(sha, 'new/näme with space.txt')).toBe(lines({ 3: 'edited' }));
    expect(await mirror.readFile(sha, 'old/name.txt')).toBeNull();
    await mirror.push([{ ref: 'refs/heads/tried', from: null, to: sha }]);
    expect(remote.git('ls-tree', 'tried', 'tool.sh')).toMatch(/^100755/);
    expect(remote.git('ls-tree', 'tried', 'link')).toMatch(/^120000/);
    expect(remote.git('cat-file', '-s', 'tried:logo.bin')).toBe('3');
  });

  it('finds conflicts of binaries, of renames, and of deletions', async () => {
    const { pull, build } = await makeWorld({ 'a.txt': lines(), bin: Buffer.from([0, 1]), gone: lines() });
    const members = [
      await pull(1, { files: { 'a.txt': null, 'b.txt': lines() } }),
      await pull(2, { files: { bin: Buffer.from([0, 2]) } }),
      await pull(3, { files: { gone: null } }),
    ];
    const against = async (number: number, files: CommitSpec['files'] & {}) =>
      build([...members, await pull(number, { files })], method);
    const renamed = await against(4, { 'a.txt': null, 'c.txt': lines() });
    expect(renamed).toMatchObject({ kind: 'conflict', number: 4, with: 1 });
    expect(renamed).toHaveProperty('files', expect.arrayContaining(['a.txt']));
    expect(await against(5, { bin: Buffer.from([0, 3]) })).toMatchObject({ with: 2, files: ['bin'] });
    expect(await against(6, { gone: lines({ 1: 'edited' }) })).toMatchObject({ with: 3, files: ['gone'] });
  });

  it('is a conflict without files if a pull request shares no history with the branch', async () => {
    const { build, at, remote } = await makeWorld();
    const stranger = await at(1, remote.commit({ files: { elsewhere: 'x' } }));
    expect(await build([stranger], method)).toEqual({ kind: 'conflict', number: 1, with: 'tip', files: [] });
  });

  it('fails with a typed error if a head is not in the mirror, and works again after', async () => {
    const { build, pull } = await makeWorld();
    const one = await pull(1, { files: { new: 'x' } });
    const error = await build([{ ...one, headSha: '1'.repeat(40) }], method).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(GitError);
    expect(error).toMatchObject({ kind: 'missing' });
    await built(build([one], method));
  });

  it('builds in a repository with SHA-256', async () => {
    const { pull, build, mirror } = await makeWorld(undefined, 'sha256');
    const one = await pull(1, { files: { shared: lines({ 2: 'one' }) } });
    const { sha } = await built(build([one, await pull(2, { files: { new: 'x' } })], method));
    expect(sha).toHaveLength(64);
    expect(await mirror.readFile(sha, 'shared')).toBe(lines({ 2: 'one' }));
  });
});

describe('a squash', () => {
  it('is one commit with the first author, the others as co-authors, once each', async () => {
    const { remote, base, at, build, mirror } = await makeWorld();
    const first = remote.commit({
      parents: [base],
      files: { a: '1' },
      author: 'Grace <grace@example.com>',
      message: 'First\n\nCo-authored-by: Kurt <KURT@example.com>\n',
    });
    const second = remote.commit({
      parents: [first],
      files: { a: '2' },
      author: 'Kurt <kurt@example.com>',
      message: 'Second\n\nco-authored-by: Grace <grace@example.com>\n',
    });
    const body = 'Why\r\nand how.\r\n\r\nCo-authored-by: Emmy <emmy@example.com>\r\n';
    const one = await at(7, second, { title: 'Do it', body });
    const { sha } = await built(build([one]));
    const commit = await mirror.commit(sha);
    expect(commit.author).toEqual({ name: 'Grace', email: 'grace@example.com' });
    expect(commit.authoredAt).toEqual(one.at);
    expect(commit.parents).toEqual([base]);
    expect(commit.message).toBe(
      'Do it (#7)\n\nWhy\nand how.\n\n' +
        'Co-authored-by: Kurt <KURT@example.com>\nCo-authored-by: Emmy <emmy@example.com>\n',
    );
  });

  it('has the account that opened the pull request as author, and who wrote its commits as co-author', async () => {
    const { pull, build, mirror } = await makeWorld();
    const account = { name: 'Mallory', email: '3+mallory@users.noreply.github.com' };
    const committer = { name: 'signalbox[bot]', email: '7+signalbox[bot]@users.noreply.github.com' };
    const author = 'Linus <linus@example.com>';
    const one = await pull(1, { files: { a: 'x' }, author }, { account, committer });
    const { sha } = await built(build([one]));
    const commit = await mirror.commit(sha);
    expect(commit.author).toEqual(account);
    expect(commit.message).toBe('Change 1 (#1)\n\nCo-authored-by: Linus <linus@example.com>\n');
    const merged = await built(build([one], 'merge_commit'));
    expect((await mirror.commit(merged.sha)).author).toEqual(committer);
  });

  it('leaves out only the member whose commit is too large to be worked on', async () => {
    const { pull, build } = await makeWorld();
    const ahead = await pull(1, { files: { a: 'x' } });
    const large = await pull(2, { files: { b: 'x' }, message: 'x'.repeat(1_100_000) });
    const behind = await pull(3, { files: { c: 'x' } });
    for (const method of ['squash', 'rebase'] as const) {
      const refused = { kind: 'conflict', number: 2, with: 'tip' };
      expect(await build([ahead, large, behind], method)).toMatchObject(refused);
      expect(await build([ahead, behind], method)).toMatchObject({ kind: 'built' });
    }
  });

  it('has whom the host names as author if the pull request has no commits of its own', async () => {
    const { at, base, build, mirror } = await makeWorld();
    const author = { name: 'Host <User>', email: 'user@host.example' };
    const { sha } = await built(build([await at(1, base, { author })]));
    expect((await mirror.commit(sha)).author).toEqual({ name: 'Host User', email: author.email });
  });
});

describe('a merge commit', () => {
  it('has the state so far and the head as parents', async () => {
    const { pull, build, mirror, base } = await makeWorld();
    const one = await pull(1, { files: { a: 'x' } });
    const { sha } = await built(build([one], 'merge_commit'));
    const commit = await mirror.commit(sha);
    expect(commit.parents).toEqual([base, one.headSha]);
    expect(commit.message).toBe('Merge #1: Change 1\n\nhttps://host.example/pull/1\n');
    expect(commit.author).toEqual({ name: 'Signalbox', email: 'signalbox@localhost' });
  });
});

describe('building', () => {
  it('continues when the processes it talks to have been killed', async () => {
    const { pull, build, mirror } = await makeWorld();
    for (let number = 1; number < 6; number++) {
      const { reader, merger } = mirror.processes();
      for (const pid of [reader, merger]) if (pid !== undefined) process.kill(pid, 'SIGKILL');
      const one = await pull(number, { files: { b: `${number}` } });
      expect(await build([one])).toMatchObject({ kind: 'built', commits: [{ number }] });
    }
  });

  it('continues when the merges are killed while they work', async () => {
    const { pull, build, mirror } = await makeWorld();
    const members: TestCommitMember[] = [];
    for (let number = 1; number <= 10; number++)
      members.push(await pull(number, { files: { [`file-${number}`]: 'x' } }));
    const expected = await built(build(members, 'merge_commit'));
    let killed = 0;
    const killer = setInterval(() => {
      const { merger } = mirror.processes();
      try {
        if (merger !== undefined && process.kill(merger, 'SIGKILL')) killed++;
      } catch {
        // The process is dead already, and the mirror has not noticed yet.
      }
    }, 1);
    // Another date gives other commits, so that no result is cached.
    const later = members.map((change) => ({ ...change, at: new Date(change.at.getTime() + 60_000) }));
    const { tree } = await built(build(later, 'merge_commit'));
    clearInterval(killer);
    expect(tree).toBe(expected.tree);
    expect(killed).toBeGreaterThan(0);
  });

  it('merges each member of a growing line once', async () => {
    const { pull, build, mirror } = await makeWorld();
    let merges = 0;
    const counting: Mirror = {
      ...mirror,
      merge: (ours, theirs) => {
        merges++;
        return mirror.merge(ours, theirs);
      },
    };
    const members: TestCommitMember[] = [];
    for (let number = 1; number <= 8; number++) {
      members.push(await pull(number, { files: { [`file-${number}`]: 'x' } }));
      const base = (await mirror.parentsOf(members[0]!.headSha))[0]!;
      await built(buildCandidate(counting, { base, members, method: 'squash' }));
    }
    expect(merges).toBe(8);
    await build(members.slice(0, 2));
  });

  it('builds several candidates at the same time', async () => {
    const { pull, build } = await makeWorld();
    const members: TestCommitMember[] = [];
    for (let number = 1; number <= 5; number++)
      members.push(await pull(number, { files: { [`file-${number}`]: 'x' } }));
    const together = await Promise.all(members.map((_, index) => built(build(members.slice(0, index + 1)))));
    for (const [index, { sha }] of together.entries()) expect(together.at(-1)!.commits[index]!.sha).toBe(sha);
  });

  it('is the base itself without members', async () => {
    const { build, base, mirror } = await makeWorld();
    await mirror.fetch({ branch: 'main', pulls: [] });
    expect(await build([])).toEqual({
      kind: 'built',
      sha: base,
      tree: await mirror.treeOf(base),
      commits: [],
    });
  });

  it('names the one right before if it takes several to conflict', async () => {
    const { pull, build } = await makeWorld({ 'old/a': 'a\n', 'old/b': 'b\n', 'old/c': 'c\n' });
    // Only when both have moved what is theirs is the whole folder renamed, and unclear where a new file belongs.
    const one = await pull(1, { files: { 'old/a': null, 'new/a': 'a\n', 'old/b': null, 'new/b': 'b\n' } });
    const two = await pull(2, { files: { 'old/c': null, 'new/c': 'c\n' } });
    const three = await pull(3, { files: { 'old/d': 'd\n' } });
    expect(await build([one, two, three])).toMatchObject({ kind: 'conflict', number: 3, with: 2 });
    expect(await build([one, three])).toMatchObject({ kind: 'built' });
    expect(await build([two, three])).toMatchObject({ kind: 'built' });
  });
});
