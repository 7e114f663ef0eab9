// `npm run e2e:recipe [-- --json]`: a recipe that people copy, examples/gitea-actions/plain.yml, on a real Gitea with its own
// CI. A pull request must land by its check, and the reports that its job sent must be with the service.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { until } from '../bench/deployment.ts';
import { createCleanup, root } from '../bench/fixture.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { organization } from './deployment.ts';
import { buildClient, openGiteaActions } from './gitea-actions.ts';

const ciScript = `mkdir -p reports
cat > reports/junit.xml <<'END'
<testsuites><testsuite name="cart"><testcase name="adds" classname="cart"/><testcase name="removes" classname="cart"/></testsuite></testsuites>
END
`;

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const cleanup = createCleanup();
try {
  const client = buildClient(cleanup);
  const workflow = readFileSync(join(root, 'examples/gitea-actions/plain.yml'), 'utf8').replaceAll(
    '/opt/signalbox.mjs',
    client,
  );
  const { call, repo, ask, put, openPullRequest, readLog } = await openGiteaActions(cleanup);
  await put('ci.sh', ciScript, { branch: 'main' });
  await put('.gitea/workflows/ci.yaml', workflow, { branch: 'main' });
  await put('change.txt', 'a change\n', { branch: 'main', new_branch: 'change' });
  const number = await openPullRequest('change');

  const queue = { repo, targetBranch: 'main' };
  await call('createQueue', { ...queue, requiredStatuses: ['ci / test (push)'] });
  await call('submitPullRequest', { ...queue, pr: { number } });
  const ended = await until('the end of the pull request', async () => {
    const found = await call('getSubmittedPullRequest', { ...queue, pr: { number } });
    return found.isCurrentlySubmittedToQueue ? null : found;
  });
  console.error(`#${number} is ${ended.state} (${ended.conclusionReason}).`);
  if (ended.state !== 'merged') {
    const { jobs } = await ask<{ jobs: readonly { readonly id: number }[] }>('GET', '/actions/jobs');
    console.error(await readLog(jobs[0]!.id));
  }
  const { uploads } = await call('listUploads', { repo, org_url_slug: organization, page_query: {} });
  for (const { branch, job, state, passed } of uploads)
    console.error(`upload of ${branch}, ${job}: ${state}, ${passed} passed`);
  const ofQueue = uploads.filter(
    ({ branch, state, passed, trust }) =>
      branch.startsWith('signalbox/main/') && state === 'ingested' && passed === 2 && trust === 'full',
  );
  const isMerged = ended.state === 'merged';
  const figures: Figure[] = [
    { name: 'landed by the check of the recipe', value: isMerged ? 1 : 0, goal: '1', isMet: isMerged },
    {
      name: 'reports of test branches',
      value: ofQueue.length,
      goal: 'at least 1',
      isMet: ofQueue.length >= 1,
    },
  ];
  if (values.json) console.log(JSON.stringify({ figures }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}
