// oxlint-disable vitest/expect-expect -- expectState and its like assert.
// Who may submit, and about which head.

import { expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';

const openStory = storyTeller();
const label = 'signalbox-submit';
const strangers = { sandbox: { people: { '*': 'none', mona: 'write', boss: 'admin' } } };

/** Polls of comments and labels come with every tenth poll of a queue. */
const polls = async (time: { readonly wait: () => Promise<unknown> }) => {
  for (let count = 0; count < 12; count += 1) await time.wait();
};

it('a label of a stranger is never obeyed, neither by its webhook nor by a poll', async () => {
  const { people, team, time, see } = await openStory(strangers);
  await team.submit(9);
  await people.label(1, label, 'mallory');
  await polls(time);
  await expect(see(1)).rejects.toThrow(/never submitted/);
  expect(await people.labelsOf(1)).toEqual([label]);
});

it('a label that was put on before a push does not submit what was pushed, and is removed', async () => {
  const { people, team, time, see, expectState } = await openStory(strangers);
  await team.submit(9);
  await people.comment(1, '/signalbox merge');
  await people.label(1, label);
  await team.push(1);
  await expectState(1, 'cancelled');
  const { prSha } = await see(1);
  await polls(time);
  await expectState(1, 'cancelled');
  expect((await see(1)).prSha).toBe(prSha);
  expect(await people.labelsOf(1)).toEqual([]);
  await people.label(1, label);
  await expectState(1, 'testing');
  expect((await see(1)).prSha).not.toBe(prSha);
});

it('a label on a pull request that was closed and opened again has to be put on again', async () => {
  const { people, team, client, numbered, time, expectState } = await openStory(strangers);
  await team.submit(9);
  await people.label(1, label);
  await expectState(1, 'testing');
  for (const state of ['closed', 'open']) {
    await client.call('sandboxUpdatePullRequest', { ...numbered(1), state });
    await time.wait();
  }
  await polls(time);
  await expectState(1, 'cancelled');
  expect(await people.labelsOf(1)).toEqual([]);
});

it('a comment that is read after a push does not submit what was pushed, and says so', async () => {
  const { people, team, host, time, client, numbered, see, expectState } = await openStory(strangers);
  await team.submit(9);
  await host.loseWebhooks();
  await people.comment(1, '/signalbox merge');
  await team.push(1);
  await polls(time);
  await expect(see(1)).rejects.toThrow(/never submitted/);
  expect((await people.words(1))[0]).toMatch(/was pushed after this comment was written/);
  const { pullRequest } = await client.call('sandboxGetPullRequest', numbered(1));
  await people.comment(1, `/signalbox merge ${pullRequest.sha.slice(0, 7)}`);
  await polls(time);
  await expectState(1, 'testing');
  expect((await see(1)).prSha).toBe(pullRequest.sha);
});

it('a comment that names a commit submits no other head', async () => {
  const { people, see, client, numbered, expectState } = await openStory(strangers);
  await people.comment(1, '/signalbox merge abcdef1');
  await expect(see(1)).rejects.toThrow(/never submitted/);
  expect((await people.words(1))[0]).toMatch(
    /the command names `abcdef1`, but the head .* is `[0-9a-f]{40}`/,
  );
  const { pullRequest } = await client.call('sandboxGetPullRequest', numbered(1));
  await people.comment(1, `/signalbox merge ${pullRequest.sha}`);
  await expectState(1, 'testing');
});

it('an edited comment is no command, whoever wrote it', async () => {
  const { people, client, numbered, time, team, see } = await openStory(strangers);
  await team.submit(9);
  const { comment } = await client.call('sandboxWriteComment', {
    ...numbered(1),
    author: 'boss',
    text: 'Looks good to me.',
  });
  await client.call('sandboxEditComment', {
    ...numbered(1),
    id: comment.id,
    text: '/signalbox merge --force',
  });
  await polls(time);
  await expect(see(1)).rejects.toThrow(/never submitted/);
  expect(await people.words(1)).toEqual([]);
});

it('a submission that names its head is refused if the head is another one', async () => {
  const { client, main, team, expectState } = await openStory();
  const pr = { ...main, pr: { number: 1 } };
  const { prSha: sha } = await client.call('getPullRequestFromHost', pr);
  await team.push(1);
  const refusal = await client.refusal('submitPullRequest', { ...main, pr: { number: 1, sha } }, 409);
  const now = (await client.call('getPullRequestFromHost', pr)).prSha;
  expect(refusal.code).toBe('PULL_REQUEST_NOT_ENQUEUEABLE');
  expect(refusal.message).toContain(sha);
  expect(refusal.message).toContain(now);
  await client.call('submitPullRequest', { ...main, pr: { number: 1, sha: now.toUpperCase() } });
  await team.submit(2);
  await expectState(1, 'testing');
});

it('force is in the audit log and in the attestation, and can be switched off', async () => {
  const { people, team, ci, client, main, see, expectMerged } = await openStory(strangers);
  await team.propose(1, { mergeability: 'in_progress' });
  await people.comment(1, '/signalbox merge --force', 'boss');
  await ci.pass(1);
  await expectMerged(1);
  const { entries } = await client.call('listAuditLog', { action: 'pull_request.force' });
  expect(entries[0]).toMatchObject({ actor: 'boss', subject: expect.stringMatching(/ main #1$/) as unknown });
  expect((await client.call('getLanding', { ...main, pr: { number: 1 } })).members).toMatchObject([
    { prNumber: 1, forced: true },
  ]);
  await client.call('updateQueue', { ...main, forceEnabled: false });
  await people.comment(2, '/signalbox merge --force', 'boss');
  await expect(see(2)).rejects.toThrow(/never submitted/);
  expect((await people.words(2))[0]).toMatch(/`--force` is switched off/);
});
