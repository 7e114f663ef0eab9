// Who is named in the commits of a landing.
import { expect, it } from 'vitest';
import type { HostFor } from '#host/host.ts';
import { storyTeller } from '../support/story.ts';

let own = 'signalbox[bot]';

/** The sandbox has no accounts: these are as GitHub names them. */
const named = (login: string) => `${login} <1+${login}@users.noreply.github.com>`;
const wrapHosts =
  (hostFor: HostFor): HostFor =>
  (cell, name) => {
    const host = hostFor(cell, name);
    const [, person, email] = /^(.*) <(.*)>$/.exec(named(own))!;
    return (
      host && {
        ...host,
        readPerson: (_, login) =>
          Promise.resolve(
            login === null
              ? { name: person!, email: email! }
              : { name: login, email: `1+${login}@users.noreply.github.com` },
          ),
      }
    );
  };

const openStory = storyTeller({ wrapHosts });
const log = ['log', '--reverse', '--format=%cn <%ce>|%an <%ae>|%s'] as const;

it('names the account of Signalbox and of the author, the same from the test to the landing', async () => {
  own = 'signalbox[bot]';
  const { team, ci, git, holdBack, release, expectMerged } = await openStory();
  const submit = (number: number) =>
    team.submit(number, {
      author: 'grace',
      title: `Change ${number} [skip ci]`,
      files: { [`${number}`]: 'x' },
    });
  await submit(1);
  // The App is renamed: what was made under its old name lands as it was tested.
  own = 'renamed[bot]';
  await submit(2);
  const tested = [(await ci.runOf(1)).testBranchSha, (await ci.runOf(2)).testBranchSha];
  holdBack('land');
  await ci.passAll();
  await release();
  await expectMerged(1, 2);
  expect((await git('log', '--reverse', '--format=%H', '-2', 'main')).split('\n')).toEqual(tested);
  const lines = (await git(...log, '-2', 'main')).split('\n');
  expect(lines).toEqual([
    `${named('signalbox[bot]')}|${named('grace')}|Change 1 (skip ci) (#1)`,
    `${named('renamed[bot]')}|${named('grace')}|Change 2 (skip ci) (#2)`,
  ]);
});

it('what a host would keep of a message that skips CI does not land by its rebase', async () => {
  const settings = { mergeMethod: 'rebase', landingMode: 'host' } as const;
  const { team, see, git } = await openStory({ settings });
  await team.submit(1, { title: 'Change [skip ci]', files: { a: 'x' } });
  await expect(see(1)).resolves.toMatchObject({
    state: 'failed',
    conclusionReason: 'START_TEST_RUN_MERGE_CONFLICT',
  });
  expect(await git('log', '--format=%s', 'main')).not.toContain('skip ci');
});

it('a rebase that Signalbox pushes has the words in a form that skips nothing', async () => {
  const { team, ci, git, expectMerged } = await openStory({ settings: { mergeMethod: 'rebase' } });
  await team.submit(1, { title: 'Change [skip ci]', files: { a: 'x' } });
  await ci.passAll();
  await expectMerged(1);
  expect(await git('log', '-1', '--format=%s', 'main')).toBe('Change (skip ci)');
});
