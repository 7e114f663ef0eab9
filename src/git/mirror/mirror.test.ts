import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeMirrorWorld, thrown, unknownSha } from '../../../test/support/mirror-world.ts';
import { makeRemote, temporaryFolder } from '../../../test/support/git-remote.ts';
import { openMerger } from './merge.ts';
import { openMirror } from './mirror.ts';
import { commitBytes } from '../object.ts';
import { isRefName } from '../ref.ts';

describe('fetching', () => {
  it('brings the branch and the heads that are not there yet', async () => {
    const { remote, mirror, base } = await makeMirrorWorld();
    const heads = [1, 2].map((number) => {
      const sha = remote.commit({ parents: [base], files: { [`f${number}`]: 'x' } });
      remote.set(`refs/pull/${number}/head`, sha);
      return { number, sha };
    });
    expect(await mirror.fetch({ branch: 'main', pulls: heads })).toEqual({
      tip: base,
      missing: [],
      refs: new Map(),
    });
    for (const { sha } of heads) expect(await mirror.parentsOf(sha)).toEqual([base]);
    // Nothing is asked for that is there: the second works although the heads are gone on the remote.
    for (const { number } of heads) remote.git('update-ref', '-d', `refs/pull/${number}/head`);
    expect(await mirror.fetch({ branch: 'main', pulls: heads })).toEqual({
      tip: base,
      missing: [],
      refs: new Map(),
    });
  });

  it('follows a branch that was rewritten, and says when it is gone', async () => {
    const { remote, mirror, base } = await makeMirrorWorld();
    await mirror.fetch({ branch: 'main', pulls: [] });
    const other = remote.commit({ files: { rewritten: 'x' } });
    remote.set('refs/heads/main', other);
    expect((await mirror.fetch({ branch: 'main', pulls: [] })).tip).toBe(other);
    remote.git('update-ref', '-d', 'refs/heads/main');
    const head = remote.commit({ parents: [base], files: { x: 'x' } });
    remote.set('refs/pull/1/head', head);
    const pulls = [{ number: 1, sha: head }];
    expect(await mirror.fetch({ branch: 'main', pulls })).toEqual({
      tip: null,
      missing: [],
      refs: new Map(),
    });
    expect(await mirror.treeOf(head)).toHaveLength(40);
  });

  it('brings a head that its pull request has left behind, and names one that no repository has', async () => {
    const { remote, mirror, base } = await makeMirrorWorld();
    const left = remote.commit({ parents: [base], files: { x: '1' } });
    remote.set('refs/pull/1/head', remote.commit({ parents: [left], files: { x: '2' } }));
    const behind = remote.commit({ parents: [base], files: { y: '1' } });
    remote.set('refs/pull/2/head', remote.commit({ parents: [base], files: { y: '2' } }));
    remote.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    const lost = { number: 3, sha: unknownSha };
    const pulls = [{ number: 1, sha: left }, { number: 2, sha: behind }, lost];
    expect(await mirror.fetch({ branch: 'main', pulls })).toEqual({
      tip: base,
      missing: [lost],
      refs: new Map(),
    });
    expect(await mirror.treeOf(behind)).toHaveLength(40);
  });

  it('takes branches with surprises in their names', async () => {
    const { remote, mirror, base } = await makeMirrorWorld();
    for (const branch of [
      'a/b',
      '-n',
      'a%2Fb',
      'ünï/✓',
      "q'd",
      '$(x)',
      'refs/heads/main',
      'HEAD',
      '@',
      'a;b',
    ]) {
      const tip = remote.commit({ parents: [base], files: { x: branch } });
      const ref = `refs/heads/${branch}`;
      remote.set(ref, tip);
      expect((await mirror.fetch({ branch, pulls: [] })).tip).toBe(tip);
      expect(await mirror.remoteRefs([ref])).toEqual(new Map([[ref, tip]]));
    }
  });

  it('takes a branch in place of the folder that it was', async () => {
    const { remote, mirror, base } = await makeMirrorWorld();
    remote.set('refs/heads/a', base);
    expect((await mirror.fetch({ branch: 'a', pulls: [] })).tip).toBe(base);
    remote.git('update-ref', '-d', 'refs/heads/a');
    remote.set('refs/heads/a/b', base);
    expect((await mirror.fetch({ branch: 'a/b', pulls: [] })).tip).toBe(base);
  });

  it('refuses names that would mean something else', async () => {
    const { mirror } = await makeMirrorWorld();
    const names = [
      'a:refs/heads/main',
      '*',
      'a b',
      'a..b',
      'x.lock',
      '/a',
      'a/',
      'a\nb',
      '',
      '.a',
      'a.',
      'a@{1}',
      'a\\b',
    ];
    for (const branch of names) {
      expect(isRefName(`refs/heads/${branch}`)).toBe(false);
      expect(await thrown(mirror.fetch({ branch, pulls: [] }))).toMatchObject({ message: /valid name/ });
    }
    for (const branch of ['a./b', 'a\u0085b', '@']) expect(isRefName(`refs/heads/${branch}`)).toBe(true);
  });

  it('works when several fetches meet', async () => {
    const { remote, mirror, path, base } = await makeMirrorWorld();
    const second = await openMirror(path, { url: remote.path });
    onTestFinished(second.close);
    for (let round = 0; round < 3; round++) {
      const tip = remote.commit({ parents: [base], files: { x: `${round}` } });
      remote.set('refs/heads/main', tip);
      remote.set('refs/pull/1/head', tip);
      const pulls = [{ number: 1, sha: tip }];
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          (index % 2 ? mirror : second).fetch({ branch: 'main', pulls }),
        ),
      );
      for (const fetched of all) expect(fetched).toEqual({ tip, missing: [], refs: new Map() });
    }
  });

  it('is created where a removed mirror has left a folder that is no repository', async () => {
    const { remote, path, base } = await makeMirrorWorld();
    rmSync(path, { recursive: true });
    mkdirSync(join(path, 'objects', '62'), { recursive: true });
    const mirror = await openMirror(path, { url: remote.path });
    onTestFinished(mirror.close);
    expect((await mirror.fetch({ branch: 'main', pulls: [] })).tip).toBe(base);
    expect(readdirSync(dirname(path)).filter((name) => name.endsWith('.removed'))).toEqual([]);
  });

  it('is not stopped by the lock of a process that was killed long ago', async () => {
    const { remote, mirror, path, base } = await makeMirrorWorld();
    await mirror.fetch({ branch: 'main', pulls: [] });
    const lock = join(path, 'refs/signalbox/base/main.lock');
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, '');
    utimesSync(lock, 1, 1);
    const tip = remote.commit({ parents: [base], files: { x: 'x' } });
    remote.set('refs/heads/main', tip);
    expect((await mirror.fetch({ branch: 'main', pulls: [] })).tip).toBe(tip);
  });

  it('is a transient error while the remote is unreachable, and works when it is back', async () => {
    const { remote, mirror, base } = await makeMirrorWorld();
    renameSync(remote.path, `${remote.path}.away`);
    expect(await thrown(mirror.fetch({ branch: 'main', pulls: [] }))).toMatchObject({ kind: 'unreachable' });
    expect(await thrown(mirror.remoteRefs(['refs/heads/*']))).toMatchObject({ kind: 'unreachable' });
    const update = { ref: 'refs/heads/x', from: null, to: base };
    renameSync(`${remote.path}.away`, remote.path);
    await mirror.fetch({ branch: 'main', pulls: [] });
    renameSync(remote.path, `${remote.path}.away`);
    expect(await thrown(mirror.push([update]))).toMatchObject({ kind: 'unreachable' });
    renameSync(`${remote.path}.away`, remote.path);
    expect(await mirror.push([update])).toEqual({ kind: 'pushed' });
  });

  it('fetches files only when they are read, if it is asked to', async () => {
    const { remote, mirror, path, base } = await makeMirrorWorld({ isPartial: true });
    remote.git('config', 'uploadpack.allowFilter', 'true');
    remote.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    await mirror.fetch({ branch: 'main', pulls: [] });
    const blob = remote.git('rev-parse', `${base}:a.txt`);
    expect(existsSync(join(path, 'objects', blob.slice(0, 2), blob.slice(2)))).toBe(false);
    expect(await mirror.readFile(base, 'a.txt')).toBe('a\n');
  });
});

it('the references of the remote are those that fit, not those that merely end alike', async () => {
  const { remote, mirror, base } = await makeMirrorWorld();
  for (const ref of ['refs/heads/sb/1', 'refs/heads/sb/2', 'refs/tags/refs/heads/main'])
    remote.set(ref, base);
  expect([...(await mirror.remoteRefs(['refs/heads/main', 'refs/heads/sb/*'])).keys()].toSorted()).toEqual([
    'refs/heads/main',
    'refs/heads/sb/1',
    'refs/heads/sb/2',
  ]);
  expect(await mirror.remoteRefs([])).toEqual(new Map());
});

describe('reading', () => {
  it('finds files, and nothing where there is none', async () => {
    const { mirror, remote, base } = await makeMirrorWorld();
    const large = remote.commit({
      parents: [base],
      files: {
        large: 'x'.repeat(1024 * 1024 + 1),
        most: 'x'.repeat(1024 * 1024),
        empty: '',
        'd/e f': 'deep',
      },
    });
    remote.set('refs/heads/main', large);
    await mirror.fetch({ branch: 'main', pulls: [] });
    expect(await mirror.readFile(base, '.signalbox.yaml')).toBe('version: 1\n');
    expect(await mirror.readFile(large, 'd/e f')).toBe('deep');
    expect(await mirror.readFile(large, 'empty')).toBe('');
    expect(await mirror.readFile(large, 'most')).toHaveLength(1024 * 1024);
    for (const path of ['none', 'd', 'a.txt/x', 'a.txt blob 3'])
      expect(await mirror.readFile(large, path)).toBeNull();
    expect(await thrown(mirror.readFile(large, 'large'))).toMatchObject({ kind: 'failed' });
    expect(await thrown(mirror.readFile(large, 'a\ncontents HEAD'))).toBeInstanceOf(Error);
  });

  it('knows who descends from whom, and which commits are own', async () => {
    const { mirror, remote, base } = await makeMirrorWorld();
    const first = remote.commit({ parents: [base], files: { x: '1' }, message: 'First' });
    const second = remote.commit({ parents: [first], files: { x: '2' }, message: 'Second' });
    remote.set('refs/heads/main', second);
    await mirror.fetch({ branch: 'main', pulls: [] });
    expect(await mirror.contains(base, second)).toBe(true);
    expect(await mirror.contains(second, base)).toBe(false);
    expect(await thrown(mirror.contains(base, unknownSha))).toMatchObject({ kind: 'missing' });
    const own = await mirror.commitsBetween(base, second);
    expect(own.map(({ message }) => message)).toEqual(['First', 'Second']);
    expect(own[0]).toMatchObject({ author: { name: 'Ada', email: 'ada@example.com' } });
    expect(await thrown(mirror.commitsBetween(base, unknownSha))).toMatchObject({ kind: 'missing' });
    expect(await thrown(mirror.treeOf(unknownSha))).toMatchObject({ kind: 'missing' });
  });
});

it('that is closed while it is used counts as one that is fetched again', async () => {
  const { mirror, base } = await makeMirrorWorld();
  await mirror.fetch({ branch: 'main', pulls: [] });
  await mirror.close();
  expect(await thrown(mirror.parentsOf(base))).toMatchObject({ kind: 'fetching' });
  expect(await thrown(mirror.merge(base, base))).toMatchObject({ kind: 'fetching' });
});

describe('a mirror', () => {
  it('is created once when several processes start at once, and leaves no other files', async () => {
    const remote = makeRemote();
    const path = join(temporaryFolder(), 'mirror.git');
    const all = await Promise.all(Array.from({ length: 4 }, () => openMirror(path, { url: remote.path })));
    await Promise.all(all.map((mirror) => mirror.close()));
    expect(readdirSync(dirname(path))).toEqual(['mirror.git']);
  });

  it('keeps what it has when it is tidied, while it is in use', async () => {
    const { mirror, remote, base, path } = await makeMirrorWorld();
    const head = remote.commit({ parents: [base], files: { x: 'x' } });
    remote.set('refs/pull/1/head', head);
    await mirror.fetch({ branch: 'main', pulls: [{ number: 1, sha: head }] });
    const { raw, tree } = await mirror.commit(head);
    const loose = await mirror.writeCommit(commitBytes(tree, [base], raw.author, raw));
    await mirror.tidy();
    expect(readdirSync(join(path, 'objects')).filter((name) => name.length === 2)).toEqual([]);
    expect(await mirror.treeOf(loose)).toBe(tree);
    expect(await mirror.merge(base, loose)).toEqual({ kind: 'merged', tree });
    expect((await mirror.fetch({ branch: 'main', pulls: [] })).tip).toBe(base);
  });

  it('ends its processes when it is closed', async () => {
    const { mirror, base } = await makeMirrorWorld();
    await mirror.fetch({ branch: 'main', pulls: [] });
    await mirror.merge(base, base);
    const { reader, merger } = mirror.processes();
    await mirror.close();
    for (const pid of [reader!, merger!]) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await thrown(mirror.treeOf(base))).toBeInstanceOf(Error);
  });

  it.each([
    ['is missing', 'no-such-program'],
    ['does not help', 'sleeper'],
  ])('merges with a process each where stdbuf %s', async (_, unbuffer) => {
    const { remote, mirror, path, base } = await makeMirrorWorld();
    const [one, two, three] = ['one', 'two', 'three'].map((name) => {
      const sha = remote.commit({ parents: [base], files: { [name === 'three' ? 'one' : name]: name } });
      remote.set(`refs/heads/${name}`, sha);
      return sha;
    });
    for (const branch of ['main', 'one', 'two', 'three']) await mirror.fetch({ branch, pulls: [] });
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'sleeper'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    const environment = { PATH: `${folder}:/usr/local/bin:/usr/bin:/bin` };
    const settings = { directory: path, remote: { url: remote.path }, environment };
    const merger = openMerger(settings, { unbuffer, timeoutMs: 500 });
    onTestFinished(merger.close);
    expect(await merger.merge(one!, two!)).toEqual(await mirror.merge(one!, two!));
    expect(await merger.merge(one!, three!)).toEqual({ kind: 'conflict', files: ['one'] });
    expect(await thrown(merger.merge(one!, unknownSha))).toMatchObject({ kind: 'missing' });
  });
});

describe('a tree that is not there', () => {
  const removeObject = (path: string, sha: string) =>
    rmSync(join(path, 'objects', sha.slice(0, 2), sha.slice(2)));

  /** The branch and a pull request with loose objects, and the names of their trees. */
  async function makeMergeable() {
    const world = await makeMirrorWorld();
    const { remote, mirror, path, base } = world;
    const ours = remote.commit({ parents: [base], files: { ours: 'x' } });
    const theirs = remote.commit({ parents: [base], files: { theirs: 'x' } });
    remote.set('refs/heads/main', ours);
    remote.set('refs/pull/1/head', theirs);
    const pulls = [{ number: 1, sha: theirs }];
    await mirror.fetch({ branch: 'main', pulls });
    const merged = await mirror.merge(ours, theirs);
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', path, ...args], { encoding: 'utf8' }).trim();
    for (const pack of readdirSync(join(path, 'objects/pack')).filter((name) => name.endsWith('.pack'))) {
      renameSync(join(path, 'objects/pack', pack), join(path, pack));
      rmSync(join(path, 'objects/pack', pack.replace('.pack', '.idx')));
      execFileSync('git', ['-C', path, 'unpack-objects', '-q'], { input: readFileSync(join(path, pack)) });
    }
    const trees = Object.fromEntries(
      Object.entries({ base, ours, theirs }).map(([name, sha]) => [name, git('rev-parse', `${sha}^{tree}`)]),
    );
    await mirror.close();
    const again = await openMirror(path, { url: remote.path });
    onTestFinished(again.close);
    return { ...world, mirror: again, ours, theirs, trees, merged, pulls };
  }

  it.each(['base', 'ours', 'theirs'])('is damage, and not an empty tree: that of %s', async (which) => {
    const { mirror, path, ours, theirs, trees } = await makeMergeable();
    removeObject(path, trees[which]!);
    for (let turn = 0; turn < 2; turn++)
      expect(await thrown(mirror.merge(ours, theirs))).toMatchObject({ kind: 'damaged' });
  });

  it('is fetched again, where a fetch was interrupted after the commit of a pull request', async () => {
    const { mirror, path, ours, theirs, trees, merged, pulls } = await makeMergeable();
    removeObject(path, trees['theirs']!);
    rmSync(join(path, 'refs/signalbox/pull/1'), { force: true });
    expect((await mirror.fetch({ branch: 'main', pulls })).missing).toEqual([]);
    expect(await mirror.merge(ours, theirs)).toEqual(merged);
  });
});

it('a history that the mirror has lost is damage, and no conflict between pull requests', async () => {
  const { remote, mirror, path, base } = await makeMirrorWorld();
  await mirror.fetch({ branch: 'main', pulls: [] });
  const packs = join(path, 'objects', 'pack');
  const ofTheBranch = readdirSync(packs);
  const heads = [1, 2].map((number) => {
    const sha = remote.commit({ parents: [base], files: { [`f${number}`]: 'x' } });
    remote.set(`refs/pull/${number}/head`, sha);
    return { number, sha };
  });
  await mirror.fetch({ branch: 'main', pulls: heads });
  for (const name of ofTheBranch) rmSync(join(packs, name));
  const [one, two] = heads;
  expect(await thrown(mirror.merge(one!.sha, two!.sha))).toMatchObject({ kind: 'damaged' });
});

it('is not held up by the machine’s own git configuration', async () => {
  // The helper of a credential would be asked for a password, and a hook of a template would run.
  const { mirror, path } = await makeMirrorWorld({
    environment: { GIT_CONFIG_GLOBAL: '/does/not/exist', GIT_DIR: '/x' },
  });
  expect((await mirror.fetch({ branch: 'main', pulls: [] })).missing).toEqual([]);
  expect(existsSync(join(path, 'hooks'))).toBe(false);
});
