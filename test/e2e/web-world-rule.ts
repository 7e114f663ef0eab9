// A pull request that changes the required checks, and whose branch requires one more after it was tested.

import { until } from '../bench/deployment.ts';
import type { World } from './web-world.ts';

/** In a repository that has another queue as well. */
export const ruled = { repo: { host: 'git.example', owner: 'acme', name: 'docs' }, targetBranch: 'main' };
export const changesRules = 11;
const pr = { number: changesRules };
const app = '15368';

const protect = ({ call }: World, names: readonly string[]) =>
  call('sandboxConfigureRepository', {
    repo: ruled.repo,
    ci: { mode: 'manual' },
    protection: {
      main: { requiredChecks: names, requiredApps: Object.fromEntries(names.map((name) => [name, app])) },
    },
  });

export async function fillRules(world: World): Promise<void> {
  const { call } = world;
  const before = ['ci/test'];
  const after = ['ci/test', 'ci/build'];
  await protect(world, before);
  await call('createQueue', { ...ruled, strategy: 'manual', protectedPaths: [] });
  await call('sandboxCreatePullRequest', {
    repo: ruled.repo,
    pr,
    title: 'Require the end-to-end tests',
    author: 'ana',
    baseBranch: ruled.targetBranch,
    files: { '.signalbox.yaml': 'merge:\n  required_statuses: [ci/e2e]\n' },
  });
  await call('submitPullRequest', { ...ruled, pr });
  const first = await testCommit(world, null);
  await protect(world, after);
  await reportSuccess(world, first, before);
  await reportSuccess(world, await testCommit(world, first), after);
  await until(`#${changesRules} as merged`, async () => {
    const { state } = await call('getSubmittedPullRequest', { ...ruled, pr });
    return state === 'merged' ? state : null;
  });
}

/** The commit of its run, once that is pushed and is not this one. */
const testCommit = ({ call }: World, other: string | null): Promise<string> =>
  until(`a test run of #${changesRules}`, async () => {
    const run = await call('getMergeQueueTestingDetails', { ...ruled, pr }).catch(() => null);
    const sha = run !== null && 'testBranchSha' in run ? run.testBranchSha : null;
    return sha === other ? null : sha;
  });

async function reportSuccess({ call }: World, sha: string, names: readonly string[]): Promise<void> {
  const report = { repo: ruled.repo, sha, state: 'success' };
  await call('sandboxSetCheck', { ...report, name: 'ci/e2e' });
  for (const name of names) await call('sandboxSetCheck', { ...report, name, app });
}
