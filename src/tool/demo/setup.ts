// Prepares the demo: repositories with a first commit, their queues, and enabled quarantine.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runGit } from '#git/run.ts';
import type { DemoClient } from './client.ts';
import type { DemoRepository } from './repository.ts';
import type { Course } from './world.ts';

/** `folder`: where the sandbox host keeps its repositories. */
export async function setUp(client: DemoClient, repository: DemoRepository, folder: string): Promise<Course> {
  const { repo, targetBranch, settings } = repository;
  await client.call('sandboxConfigureRepository', { repo, ci: { mode: 'manual', contexts: ['ci/test'] } });
  const { sha } = await client.call('sandboxCommit', {
    repo,
    branch: targetBranch,
    message: `Begin ${repo.name}`,
    files: { 'README.md': `# ${repo.name}\n` },
  });
  await client.call('createQueue', {
    repo,
    targetBranch,
    ...settings,
    requiredStatuses: ['ci/test'],
    skippableStatuses: [...(settings.skippableStatuses ?? [])],
  });
  await client.call('updateHealthSettings', {
    repo,
    org_url_slug: client.organization,
    settings: { quarantine: { enabled: true, auto: true } },
  });
  return {
    repository,
    folder: await folderWith(folder, sha!),
    changes: new Map(),
    live: new Map(),
    ends: new Map(),
    resubmitted: 0,
    runs: 0,
    restarts: 0,
    ciMs: 0,
  };
}

/** The folders are named by ids; a commit is in only one of them. */
async function folderWith(parent: string, sha: string): Promise<string> {
  for (const name of readdirSync(parent)) {
    const directory = join(parent, name);
    const call = { args: ['cat-file', '-e', `${sha}^{commit}`], exitCodes: [0, 1, 128] };
    if ((await runGit({ directory }, call)).exitCode === 0) return directory;
  }
  throw new Error('The sandbox host did not create the repository of the demo.');
}
