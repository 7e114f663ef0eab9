// Jobs that events name by repository call the host through the same boundary as those of a queue.
import { describe, expect, it } from 'vitest';
import { main, openWorldForTest, pr, widgets } from '../support/harness.ts';
import { type Story, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

describe('while the host is rate limited', () => {
  const limit = { faults: { answers: 'rate_limited', untilMs: 600_000 } };
  /** The jobs whose keys begin so: how often each was tried, and in how many minutes it is due. */
  const putOff = async ({ world }: Story, prefix: string) => {
    const { rows } = await world.cell.pool.query<{ attempts: number; minutes: number }>(
      `select attempts, round(extract(epoch from run_at - now()) / 60)::int as minutes
       from graphile_worker.jobs where starts_with(key, $1)`,
      [prefix],
    );
    return rows;
  };

  it('a pull request that changed is read when the host allows it, and its queue waits until then', async () => {
    const story = await openStory();
    const { team, host, world, waitingFor, expectCancelled } = story;
    await team.submit(1);
    await host.configure(limit);
    await team.push(1);
    expect(await putOff(story, 'refresh:')).toEqual([{ attempts: 0, minutes: 10 }]);
    expect(await waitingFor(1)).toMatch(/host does not answer/);
    await host.up();
    await expectCancelled(1, 'PR_PUSHED_TO');
    expect(world.jobErrors).toEqual([]);
  });

  it('a comment and a label are read when the host allows it, and the queue does not wait for them', async () => {
    const story = await openStory();
    const { team, host, people, world, waitingFor, expectCancelled, expectState } = story;
    await team.submit(1);
    await team.propose(2, { files: { 'b.txt': 'b' } });
    await host.configure(limit);
    await people.comment(1, '/signalbox cancel');
    await people.label(2, 'signalbox-submit');
    expect(await putOff(story, 'comment:')).toEqual([{ attempts: 0, minutes: 10 }]);
    expect(await putOff(story, 'label:')).toEqual([{ attempts: 0, minutes: 10 }]);
    expect(await waitingFor(1)).not.toMatch(/host does not answer/);
    await host.up();
    await expectCancelled(1, 'USER_REQUESTED');
    await expectState(2, 'testing');
    expect(world.jobErrors).toEqual([]);
  });
});

it('a pull request in two queues is read once when it changes', async () => {
  let reads = 0;
  const world = await openWorldForTest({
    wrapHosts: (hostFor) => (cell, name) => {
      const host = hostFor(cell, name);
      if (host === null) return null;
      const readPullRequest: typeof host.readPullRequest = (query) => {
        reads += 1;
        return host.readPullRequest(query);
      };
      return { ...host, readPullRequest };
    },
  });
  const team = await world.client();
  await team.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual' } });
  await team.call('createQueue', main);
  await team.call('createQueue', { ...main, targetBranch: 'release' });
  await team.call('submitPullRequest', pr(1));
  await world.runJobs();
  // A base that changes is the only way into a second queue: the first one knows only at the next read.
  await team.call('sandboxUpdatePullRequest', { ...pr(1), baseBranch: 'release' });
  await team.call('submitPullRequest', { ...pr(1), targetBranch: 'release' });
  reads = 0;
  await world.runJobs();
  expect(reads).toBe(1);
  expect(world.jobErrors).toEqual([]);
});
