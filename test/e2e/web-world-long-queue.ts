// A queue that is longer than a page shows at once; its CI never reports.

import type { World } from './web-world.ts';

export const long = { repo: { host: 'git.example', owner: 'acme', name: 'monolith' }, targetBranch: 'main' };
export const longCount = 80;

export async function fillLongQueue({ call }: World): Promise<void> {
  await call('sandboxConfigureRepository', { repo: long.repo, ci: { mode: 'manual' } });
  await call('createQueue', { ...long, requiredStatuses: ['ci/test'], strategy: 'manual', concurrency: 2 });
  for (let number = 1; number <= longCount; number += 1)
    await call('submitPullRequest', { ...long, pr: { number } });
}
