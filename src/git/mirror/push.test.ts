import { describe, expect, it } from 'vitest';
import { makeMirrorWorld, thrown, unknownSha } from '../../../test/support/mirror-world.ts';

describe('pushing', () => {
  async function withTwo() {
    const world = await makeMirrorWorld();
    const next = world.remote.commit({ parents: [world.base], files: { next: 'x' } });
    world.remote.set('refs/pull/1/head', next);
    await world.mirror.fetch({ branch: 'main', pulls: [{ number: 1, sha: next }] });
    const at = (ref: string) => world.remote.git('for-each-ref', '--format=%(objectname)', ref);
    return { ...world, next, at };
  }
  const main = 'refs/heads/main';
  const test = 'refs/heads/signalbox/test';

  it('makes, moves and deletes references, together', async () => {
    const { mirror, base, next, at, remote } = await withTwo();
    remote.set('refs/heads/old', base);
    const updates = [
      { ref: main, from: base, to: next },
      { ref: test, from: null, to: base },
      { ref: 'refs/heads/old', from: base, to: null },
    ];
    expect(await mirror.push(updates)).toEqual({ kind: 'pushed' });
    expect([at(main), at(test), at('refs/heads/old')]).toEqual([next, base, '']);
    // Once more, as after a crash: what is so already is done.
    expect(await mirror.push(updates)).toEqual({ kind: 'pushed' });
    expect(await mirror.push([])).toEqual({ kind: 'pushed' });
  });

  it('moves a reference backwards too: only where it was counts', async () => {
    const { mirror, base, next, at, remote } = await withTwo();
    remote.set(test, next);
    expect(await mirror.push([{ ref: test, from: next, to: base }])).toEqual({ kind: 'pushed' });
    expect(at(test)).toBe(base);
  });

  it('says which reference moved, and then leaves all as they were', async () => {
    const { mirror, base, next, at, remote } = await withTwo();
    const other = remote.commit({ parents: [base], files: { other: 'x' } });
    remote.set(main, other);
    const updates = [
      { ref: test, from: null, to: next },
      { ref: main, from: base, to: next },
    ];
    expect(await mirror.push(updates)).toEqual({ kind: 'moved', refs: [main] });
    expect([at(main), at(test)]).toEqual([other, '']);
    expect(await mirror.push(updates, { isAtomic: false })).toEqual({ kind: 'moved', refs: [main] });
    expect([at(main), at(test)]).toEqual([other, next]);
  });

  it('does not overwrite what must not exist, nor delete what moved', async () => {
    const { mirror, base, next, at, remote } = await withTwo();
    remote.set(test, base);
    expect(await mirror.push([{ ref: test, from: null, to: next }])).toEqual({ kind: 'moved', refs: [test] });
    expect(await mirror.push([{ ref: test, from: next, to: null }])).toEqual({ kind: 'moved', refs: [test] });
    expect(at(test)).toBe(base);
  });

  it('has only one winner when several push at once', async () => {
    const { mirror, base, remote, at } = await withTwo();
    const heads = Array.from({ length: 4 }, (_, index) => {
      const sha = remote.commit({ parents: [base], files: { winner: `${index}` } });
      remote.set(`refs/pull/${index + 10}/head`, sha);
      return { number: index + 10, sha };
    });
    await mirror.fetch({ branch: 'main', pulls: heads });
    const results = await Promise.all(
      heads.map(({ sha }) => mirror.push([{ ref: main, from: base, to: sha }])),
    );
    const won = heads.filter((_, index) => results[index]!.kind === 'pushed');
    expect(won.map(({ sha }) => sha)).toEqual([at(main)]);
    expect(results.filter(({ kind }) => kind === 'moved')).toHaveLength(3);
  });

  it('reports a refusal with the message of the remote', async () => {
    const { mirror, base, next, at, remote } = await withTwo();
    remote.hook('pre-receive', 'echo "main is protected: not our ref, stale info" >&2; exit 1');
    const refused = await mirror.push([
      { ref: main, from: base, to: next },
      { ref: test, from: null, to: next },
    ]);
    expect(refused).toMatchObject({ kind: 'refused' });
    expect(refused).toHaveProperty('message', expect.stringContaining('main is protected'));
    expect([at(main), at(test)]).toEqual([base, '']);
  });

  it('leaves all as they were if the remote refuses one', async () => {
    const { mirror, base, next, at, remote } = await withTwo();
    remote.hook('update', 'test "$1" != refs/heads/main');
    const updates = [
      { ref: test, from: null, to: next },
      { ref: main, from: base, to: next },
    ];
    expect(await mirror.push(updates)).toMatchObject({
      kind: 'refused',
      message: /^refs\/heads\/main: hook/,
    });
    expect([at(main), at(test)]).toEqual([base, '']);
  });

  it('is refused, and does not count as a concurrent push, if the name can never be created', async () => {
    const { mirror, next } = await withTwo();
    const update = { ref: `${main}/below`, from: null, to: next };
    expect(await mirror.push([update])).toMatchObject({ kind: 'refused' });
  });

  it('says so if the commit is not in the mirror', async () => {
    const { mirror, base } = await withTwo();
    const push = mirror.push([{ ref: main, from: base, to: unknownSha }]);
    expect(await thrown(push)).toMatchObject({ kind: 'missing' });
  });
});
