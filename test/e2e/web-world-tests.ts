// A flaky test, from uploaded reports of the default branch, the queue and pull requests, so that Signalbox itself
// classifies it; then, in quarantine, failures that are excused; and a truncated report.

import { hash } from 'node:crypto';
import { until } from '../bench/deployment.ts';
import { numbers, widgets, type World } from './web-world.ts';

/** A page must show this as text. */
export const flakyTest = 'keeps <b onclick="window.stolen = 1">bold</b> & "quoted" names';
const message = 'Timeout: <script>window.stolen = 1</script> was not shown in 5000 ms';
const commits = 5;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const steady = Array.from(
  { length: 40 },
  (_, index) =>
    `<testcase classname="Names" file="test/names.test.ts" name="keeps name ${index}" time="0.1"/>`,
).join('\n');

function reportOf(isFailing: boolean): string {
  const head = `<testcase classname="Names" file="test/names.test.ts" name="${escaped(flakyTest)}" time="0.2"`;
  const last = isFailing
    ? `${head}><failure type="Timeout" message="${escaped(message)}">at names.test.ts:7</failure></testcase>`
    : `${head}/>`;
  return `<?xml version="1.0"?><testsuites><testsuite name="names">${last}${steady}</testsuite></testsuites>`;
}

type Source = {
  readonly commit: string;
  readonly branch: string;
  readonly pr?: number;
  readonly attempt?: number;
};

async function upload(world: World, { commit, branch, pr, attempt }: Source, text: string): Promise<void> {
  const query = new URLSearchParams({
    repo: 'git.example/acme/widgets',
    org_url_slug: 'bench',
    sha: hash('sha1', commit, 'hex'),
    branch,
    job: 'names',
    run_id: commit,
    attempt: String(attempt ?? 1),
    url: `https://ci.example/names/${commit}`,
    ...(pr !== undefined && { pr: String(pr) }),
  });
  const answer = await fetch(`${world.url}/v1/flaky-tests/upload?${query.toString()}`, {
    method: 'POST',
    headers: { 'x-api-token': world.tokens.admin, 'content-type': 'application/xml' },
    body: text,
  });
  if (!answer.ok) throw new Error(`The report was refused: ${await answer.text()}`);
}

/** So many passes make the next failure another incident (core/health/history.ts). */
const passesBetween = 20;

export async function fillNamesTests(world: World): Promise<void> {
  for (let index = 0; index < commits; index += 1) {
    const commit = `names-${index}`;
    const passes = index === 0 ? 0 : passesBetween;
    for (let pass = 0; pass < passes; pass += 1)
      await upload(world, { commit: `${commit}-before-${pass}`, branch: 'main' }, reportOf(false));
    await upload(world, { commit, branch: 'main' }, reportOf(true));
    await upload(world, { commit, branch: 'main', attempt: 2 }, reportOf(false));
  }
  await until('the flaky test in quarantine', async () => {
    const { quarantined_tests: tests } = await world.call('listQuarantinedTests', {
      repo: widgets.repo,
      org_url_slug: 'bench',
      search: 'names.test.ts',
      page_query: {},
    });
    return tests.length > 0 ? true : null;
  });
  for (const pr of [numbers.landed, numbers.landed + 1]) {
    await upload(world, { commit: `change-${pr}`, branch: `change-${pr}`, pr }, reportOf(true));
    await upload(world, { commit: `queue-${pr}`, branch: `signalbox/main/pr-${pr}`, pr }, reportOf(true));
  }
  const cut = reportOf(true).slice(0, -60);
  await upload(world, { commit: 'cut', branch: 'change-cut', pr: numbers.landed + 2 }, cut);
}
