// GitHub's limits on content: all processes count together, landings have a share that nothing else may use, and a comment
// that was one too many keeps nothing waiting but comments.

import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readContentUse, takeContent } from '#db/host/content-store.ts';
import type { ContentBudget, ConnectionWithCredentials } from '#host/connection.ts';
import { createGithubHost } from '#host/github/host.ts';
import { openTestCell } from '../support/database.ts';
import { openGithub, widgets } from './github-fixture.ts';
import { appCredentials, hostName } from './github-world.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const comment = (body: string) => ({ id: null, mayExist: false, mark: `mark ${body}`, body });

async function openCellForTest() {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  return cell;
}

describe('the budget of content', () => {
  it('is shared by all processes, and keeps a share for landings', async () => {
    const cell = await openCellForTest();
    const at = new Date('2026-03-01T12:00:00Z');
    const take = (kind: 'landing' | 'other', minute: number) =>
      takeContent(cell, 'one', {
        at: new Date(at.getTime() + minute * 60_000),
        count: 1,
        isLanding: kind === 'landing',
      });
    const granted = async (kind: 'landing' | 'other', tries: number, minute: number) =>
      (await Promise.all(Array.from({ length: tries }, () => take(kind, minute)))).filter(
        (waitMs) => waitMs === null,
      ).length;
    // In a minute: 60 for everything else, 80 with landings.
    expect(await granted('other', 90, 0)).toBe(60);
    expect(await granted('landing', 90, 0)).toBe(20);
    // In an hour: 400 for everything else, 500 with landings.
    let other = 60;
    for (let minute = 2; minute < 20; minute += 2) other += await granted('other', 60, minute);
    expect(other).toBe(380);
    let landing = 20;
    for (let minute = 20; minute < 50; minute += 2) landing += await granted('landing', 30, minute);
    expect(landing).toBe(120);
    expect(await take('landing', 50)).toBeGreaterThan(0);
    expect(await readContentUse(cell.db, 'one', new Date(at.getTime() + 50 * 60_000))).toMatchObject({
      hour: 500,
    });
    // Another installation has its own, and after the hour there is room again.
    expect(await takeContent(cell, 'two', { at, count: 1, isLanding: false })).toBeNull();
    expect(await take('landing', 62)).toBeNull();
  });

  it('lets 200 pull requests land in an hour, each with a comment', async () => {
    const cell = await openCellForTest();
    const start = Date.parse('2026-03-01T12:00:00Z');
    let comments = 0;
    for (let landed = 0; landed < 200; landed += 1) {
      const at = new Date(start + landed * 18_000);
      expect(await takeContent(cell, 'one', { at, count: 1, isLanding: true })).toBeNull();
      for (let turn = 0; turn < 2; turn += 1)
        if ((await takeContent(cell, 'one', { at, count: 1, isLanding: false })) === null) comments += 1;
    }
    expect(comments).toBeGreaterThanOrEqual(200);
    expect(comments).toBeLessThan(300);
  });

  it('makes the comments of two processes wait together, and no merge', async () => {
    const cell = await openCellForTest();
    const { server, repository, propose, clock } = await openGithub();
    const connection: ConnectionWithCredentials = {
      id: randomUUID(),
      organizationId: repository.organizationId,
      host: hostName,
      url: server.url,
      credentials: appCredentials(server),
    };
    const budget: ContentBudget = {
      take: (key, wish) => takeContent(cell, key, wish),
      used: (key, at) => readContentUse(cell.db, key, at),
    };
    const connections = { find: () => Promise.resolve(connection), save: () => Promise.resolve() };
    const options = { host: hostName, connections, clock, log: silent, budget, hasContentLimits: true };
    const processes = [createGithubHost(options), createGithubHost(options)];
    const { number, headSha } = await propose('one');
    const write = (turn: number) =>
      processes[turn % 2]!.writeComment(repository, number, comment(String(turn)));
    for (let turn = 0; turn < 60; turn += 1) await write(turn);
    await expect(write(60)).rejects.toMatchObject({ trouble: 'rate_limited' });
    await expect(write(61)).rejects.toMatchObject({ trouble: 'rate_limited' });
    expect(await processes[0]!.contentUse!(repository)).toBeCloseTo(60 / 500);
    const words = { title: 'one', message: '' };
    const request = {
      repository,
      number,
      targetBranch: 'main',
      method: 'squash',
      headSha,
      ...words,
    } as const;
    expect(await processes[1]!.merge(request)).toMatchObject({ kind: 'merged' });
    clock.advance(80_000);
    expect(await write(62)).toEqual(expect.any(String));
  });
});

it('a comment that GitHub refuses as one too many keeps no reading and no merge waiting', async () => {
  const { server, host, repository, propose, read } = await openGithub();
  const { number, headSha } = await propose('one');
  await read(number);
  server.setLimits({ contentPerHour: 0 });
  await expect(host.writeComment(repository, number, comment('a'))).rejects.toMatchObject({
    trouble: 'rate_limited',
  });
  expect(await read(number)).toMatchObject({ number });
  server.setLimits({ contentPerHour: null });
  // GitHub asked to wait a minute: comments do.
  await expect(host.writeComment(repository, number, comment('b'))).rejects.toMatchObject({
    trouble: 'rate_limited',
  });
  const words = { title: 'one', message: '' };
  const request = { repository, number, targetBranch: 'main', method: 'squash', headSha, ...words } as const;
  expect(await host.merge(request)).toMatchObject({ kind: 'merged' });
  expect(server.pullRequest(widgets, number).merged).not.toBeNull();
});
