// A token that only uploads decides nothing, and costs the host nothing.

import type { Operation } from '#contract/endpoint/endpoint.ts';
import type { Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { staysUnsubmitted } from './step.ts';
import type { Api } from './world.ts';
import { sql } from '../../support/sql.ts';

const forbidden: readonly Operation[] = [
  'submitPullRequest',
  'cancelPullRequest',
  'restartTestsOnPullRequest',
  'updateQueue',
  'getQueue',
];

type Uploader = {
  readonly api: Api;
  /** Sends a report about a commit; answers with the status. */
  readonly send: (repo: Scene['host']['repo'], sha: string) => Promise<number>;
};

/** A token that may only upload, bound to the repository of the scene. */
async function uploaderOf({ api, host, world }: Scene): Promise<Uploader> {
  const wish = { name: 'forks', scopes: ['upload'], repositories: [host.repo] };
  const { value } = await api.call('createToken', wish);
  return {
    api: world.apiWith(value),
    send: async ({ host: hostName, owner, name }, sha) => {
      const repo = `${hostName}/${owner}/${name}`;
      const query = new URLSearchParams({ repo, org_url_slug: 'acme', sha, branch: 'main' }).toString();
      const answer = await fetch(`${world.url}/v1/flaky-tests/upload?${query}`, {
        method: 'POST',
        headers: { 'x-api-token': value, 'content-type': 'application/xml' },
        body: '<testsuite name="s"><testcase name="adds"/></testsuite>',
      });
      await answer.text();
      return answer.status;
    },
  };
}

const shaOf = (digit: number): string => String(digit).repeat(40);

/** How many targets a pull request impacts, as it is recorded. */
async function targetsOf({ world }: Scene): Promise<string> {
  const rows = await sql<{ impacts_all: boolean; target_count: number }>(
    world.cell.db,
  )`select impacts_all, target_count from impacted_targets`;
  return rows.map((row) => (row.impacts_all ? 'ALL' : String(row.target_count))).join(', ');
}

export const tokenSituations: readonly Situation[] = [
  {
    name: 'an upload-only token submits, cancels, restarts, and changes the queue',
    must: 'each call is refused',
    hosts: ['sandbox'],
    run: async (scene) => {
      const number = await scene.openBad();
      const uploader = await scene.world.api(['upload']);
      for (const operation of forbidden) {
        const { status } = await uploader.ask(operation, scene.numbered(number));
        scene.must(status === 403, `${operation} was answered with ${status}`);
      }
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'a read-only token submits',
    must: 'the call is refused',
    hosts: ['sandbox'],
    run: async (scene) => {
      const number = await scene.openBad();
      const reader = await scene.world.api(['read']);
      const { status } = await reader.ask('submitPullRequest', scene.numbered(number));
      scene.must(status === 403, `it was answered with ${status}`);
      return staysUnsubmitted(scene, number);
    },
  },
  {
    name: 'an upload-only token names its own repository, another one, and one that no host has',
    must: 'only its own is accepted, and no call goes to a host',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const { api, send } = await uploaderOf(scene);
      const { repo } = scene.host;
      scene.interpose(null);
      scene.must((await send(repo, shaOf(1))) === 200, 'its own repository is refused');
      for (const other of [
        { ...repo, name: 'another' },
        { ...repo, host: 'git.example.com' },
      ])
        scene.must((await send(other, shaOf(1))) === 404, `${other.host}/${other.name} is accepted`);
      const targets = { repo: { ...repo, name: 'another' }, targetBranch: 'main', impactedTargets: [] };
      const { status } = await api.ask('setImpactedTargets', {
        ...targets,
        pr: { number: 1, sha: shaOf(1) },
      });
      scene.must(status === 404, `targets of another repository are answered with ${status}`);
      scene.must(scene.hostCalls().length === 0, `the host was asked: ${scene.hostCalls().join(', ')}`);
      return 'only its own repository was accepted, and the host was not asked';
    },
  },
  {
    name: 'an upload-only token sends more than its quota of a day',
    must: 'it is refused until the next day',
    hosts: ['sandbox'],
    run: async (scene) => {
      const { send } = await uploaderOf(scene);
      const { repo } = scene.host;
      for (const digit of [1, 2, 3])
        scene.must((await send(repo, shaOf(digit))) === 200, `report ${digit} is refused`);
      const status = await send(repo, shaOf(4));
      scene.must(status === 429, `one more is answered with ${status}`);
      scene.world.clock.advance(86_400_000);
      scene.must((await send(repo, shaOf(5))) === 200, 'it is refused on the next day too');
      return 'the fourth of a day was refused, and one on the next day accepted';
    },
  },
  {
    name: 'an upload-only token names fewer targets than a pull request has',
    must: 'the targets only become more',
    hosts: ['sandbox'],
    set: { settings: { mode: 'parallel' } },
    run: async (scene) => {
      const { api } = await uploaderOf(scene);
      const number = await scene.openBad();
      const wish = { ...scene.main, pr: { number, sha: scene.headOf(number) } };
      await scene.api.call('setImpactedTargets', { ...wish, impactedTargets: ['a', 'b'] });
      const seen: string[] = [];
      for (const impactedTargets of [[], ['a'], ['b', 'c']]) {
        await api.call('setImpactedTargets', { ...wish, impactedTargets });
        seen.push(await targetsOf(scene));
      }
      scene.must(seen.join(' ') === '2 2 3', `it had 2 targets, and then ${seen.join(', ')}`);
      return 'it had 2 targets, and then 2, 2 and 3';
    },
  },
];
