// What must hold when a story is over, whatever it told: every landing is what its attestation says, no test branch is
// left, the branch was moved by nobody but the queue and those the story tells of, and no job threw.

import { expect } from 'vitest';
import type { QueueId } from '#base/id.ts';
import { HostError } from '#host/host.ts';
import type { Client, World } from '../support/harness.ts';

export type Main = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
};

type Git = (...args: readonly string[]) => Promise<string>;

type Aftermath = {
  readonly world: World;
  readonly client: Client;
  readonly main: Main;
  readonly queueId: QueueId;
  readonly git: Git;
  /** Commits that somebody put on the branch by hand. */
  readonly handMade: ReadonlySet<string>;
  readonly settle: () => Promise<void>;
  /** Does what was put off for some seconds, too. */
  readonly wait: () => Promise<void>;
  /** The story is about a tree that landed without having been tested. */
  readonly mayDiffer: boolean;
};

export async function checkAftermath(after: Aftermath): Promise<void> {
  const { world, client, main, queueId } = after;
  await everybodyLeaves(after);
  const { branches } = await client.call('sandboxGetRepository', { repo: main.repo });
  expect(branches.filter(({ name }) => name.startsWith('signalbox/'))).toEqual([]);
  const landings = await landingsOf(world, queueId);
  await expectAttested(after, landings);
  await expectAccounted(after, landings);
  expect(world.jobErrors.filter((error) => !(error instanceof HostError))).toEqual([]);
}

async function everybodyLeaves({ world, client, main, queueId, settle, wait }: Aftermath): Promise<void> {
  const faults = { webhooks: 'deliver', answers: 'ok', shuffleMs: 0 };
  await client.call('sandboxConfigureRepository', { repo: main.repo, faults });
  await wait();
  for (const { prNumber } of (await client.call('getQueue', main)).enqueuedPullRequests)
    await client.call('cancelPullRequest', { ...main, pr: { number: prNumber } });
  await settle();
  await wait();
  await world.cell.pool.query(
    `select graphile_worker.add_job('sweep-queue', json_build_object('queueId', $1::text))`,
    [queueId],
  );
  await settle();
  expect((await client.call('getQueue', main)).enqueuedPullRequests).toEqual([]);
}

type LandingRow = {
  base_sha: string;
  landed_sha: string;
  landed_tree: string;
  tested_tree: string;
  proof: string;
  prs: number[];
};

async function landingsOf({ cell }: World, queueId: QueueId): Promise<LandingRow[]> {
  const { rows } = await cell.pool.query<LandingRow>(
    `select base_sha, landed_sha, landed_tree, tested_tree, proof,
       (select array_agg(m.pr_number::int order by m.position) from landing_pull_request m
         where m.queue_id = l.queue_id and m.number = l.number and m.commit_sha is not null) as prs
     from landing l where queue_id = $1 and status = 'landed'`,
    [queueId],
  );
  return rows;
}

/** What landed is what was tested, and the attestation says so to whoever asks by commit or by pull request. */
async function expectAttested({ client, main, git, mayDiffer }: Aftermath, landings: readonly LandingRow[]) {
  for (const row of landings) {
    const { landed_sha: landedSha, landed_tree: landedTreeSha, tested_tree: testedTreeSha, prs } = row;
    expect(await git('rev-parse', `${landedSha}^{tree}`)).toBe(landedTreeSha);
    if (row.proof === 'exact' && !mayDiffer) expect(landedTreeSha).toBe(testedTreeSha);
    const told = await client.call('getLanding', { ...main, commit: landedSha });
    expect(told).toMatchObject({ landedSha, landedTreeSha, testedTreeSha });
    expect(told.members.map(({ prNumber }) => prNumber)).toEqual(prs);
    for (const number of prs)
      expect(await client.call('getLanding', { ...main, pr: { number } })).toEqual(told);
  }
}

/** From the head of the branch to the first commit every step is a landing, or somebody's whom the story tells of. */
async function expectAccounted({ git, handMade }: Aftermath, landings: readonly LandingRow[]) {
  const bases = new Map(landings.map((row) => [row.landed_sha, row.base_sha]));
  let sha = await git('rev-parse', '--verify', 'main').catch(() => null);
  while (sha !== null) {
    const [, parent] = (await git('rev-list', '--parents', '-n', '1', sha)).split(' ');
    if (parent === undefined) return;
    const before = bases.get(sha) ?? (handMade.has(sha) ? parent : undefined);
    if (before === undefined) expect.fail(`nobody put ${sha} on main`);
    sha = before;
  }
}
