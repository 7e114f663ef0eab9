// `npm run e2e:recipe [-- --json]`: a recipe that people copy, examples/gitea-actions/plain.yml, on a real Gitea with its own
// CI. A pull request must land by its check, and the reports that its job sent must be with the service.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { until } from '../bench/deployment.ts';
import { createCleanup, root, temporaryDir, token } from '../bench/fixture.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { startGitea } from '../gitea/server.ts';
import { openGiteaPlace } from '../host-contract/gitea-world.ts';
import { connectTo, organization } from './deployment.ts';

const ciScript = `mkdir -p reports
cat > reports/junit.xml <<'END'
<testsuites><testsuite name="cart"><testcase name="adds" classname="cart"/><testcase name="removes" classname="cart"/></testsuite></testsuites>
END
`;

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const cleanup = createCleanup();
try {
  const client = join(temporaryDir(cleanup, 'signalbox-recipe-'), 'signalbox.mjs');
  execFileSync(process.execPath, ['script/build-cli.ts', client], { cwd: root, stdio: 'ignore' });
  const workflow = readFileSync(join(root, 'examples/gitea-actions/plain.yml'), 'utf8').replaceAll(
    '/opt/signalbox.mjs',
    client,
  );
  const gitea = await startGitea();
  cleanup.add(gitea.stop);
  await gitea.startRunner();
  const author = await gitea.newUser('ada');
  const bot = await gitea.newUser('signalbox-bot');
  const people = new Map([author, bot].map((user) => [user.name, user]));
  const { call, webhook } = await connectTo(
    cleanup,
    {
      connect: async (folder) => {
        await writeFile(join(folder, 'token'), bot.token, { mode: 0o600 });
        return ['--kind', 'gitea', '--url', gitea.url, '--token-file', join(folder, 'token')];
      },
    },
    { sweepSeconds: 5 },
  );
  const scene = { gitea, people, author, bot, onProtected: () => undefined };
  const place = await openGiteaPlace(scene, 'widgets');
  const ask = <Answer = unknown>(method: string, path: string, body?: object) =>
    gitea.call<Answer>(author.token, method, `${place.gitea.path}${path}`, body);
  await place.addWebhook(webhook.url, webhook.secret);
  await ask('POST', '/actions/variables/SIGNALBOX_URL', { value: new URL(webhook.url).origin });
  await ask('PUT', '/actions/secrets/SIGNALBOX_API_TOKEN', { data: token });
  const put = (path: string, text: string, branch: object) =>
    ask('POST', `/contents/${path}`, {
      message: `Add ${path}`,
      content: Buffer.from(text).toString('base64'),
      ...branch,
    });
  await put('ci.sh', ciScript, { branch: 'main' });
  await put('.gitea/workflows/ci.yaml', workflow, { branch: 'main' });
  await put('change.txt', 'a change\n', { branch: 'main', new_branch: 'change' });
  const { number } = await ask<{ number: number }>('POST', '/pulls', {
    title: 'A change',
    head: 'change',
    base: 'main',
  });

  const repo = { host: new URL(gitea.url).host, owner: author.name, name: 'widgets' };
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
    const { id } = jobs[0]!;
    const log = await fetch(`${gitea.url}/api/v1${place.gitea.path}/actions/jobs/${id}/logs`, {
      headers: { authorization: `token ${author.token}` },
    });
    console.error(await log.text());
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
