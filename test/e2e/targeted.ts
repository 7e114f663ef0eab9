// `npm run e2e:targeted [-- --json]`: targeted search on a real Gitea with its own CI, by the real pytest and the real Vitest. Of
// four pull requests that are tested together, one breaks a test of each runner. Runs of only these tests must find them,
// and the other two must land, by a run of all tests.

import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { until } from '../bench/deployment.ts';
import { createCleanup, root } from '../bench/fixture.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { organization } from './deployment.ts';
import { buildClient, openGiteaActions } from './gitea-actions.ts';

const cart = (sum: string) => `def add(prices):
    return ${sum}


def count(prices):
    return len(prices)
`;

const cartTests = `import pytest
from cart import add, count


def test_adds():
    assert add([1, 2]) == 3


@pytest.mark.parametrize("prices", [[], [1], [1, 2]])
def test_counts(prices):
    assert count(prices) == len(prices)
`;

const shop = (order: string) => `export const sort = (prices) => prices.toSorted(${order});
export const cheapest = (prices) => Math.min(...prices);
`;

const shopTests = `import { cheapest, sort } from './shop.mjs';

describe('the shop', () => {
  it('sorts by price', () => expect(sort([3, 1, 2])).toEqual([1, 2, 3]));
  it('finds the cheapest', () => expect(cheapest([3, 1, 2])).toBe(1));
  it('has prices', () => expect(sort([1])).toEqual([1]));
});
`;

/** A job that runs its tests through the client. */
const job = (client: string, command: string) => `
    runs-on: linux
    steps:
      - env:
          TOKEN: \${{ github.token }}
        run: |
          git init --quiet
          git -c http.extraHeader="Authorization: token $TOKEN" \\
            fetch --quiet --depth 1 "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" "$GITHUB_SHA"
          git checkout --quiet FETCH_HEAD
      - run: |
          export PATH="${dirname(process.execPath)}:$PATH"
          ln -s "${join(root, 'node_modules')}" node_modules
          node ${client} test --junit 'reports/*.xml' -- ${command}`;

const workflow = (client: string) => `name: ci
on:
  push:
    branches: [main, 'signalbox/**']
env:
  SIGNALBOX_URL: \${{ vars.SIGNALBOX_URL }}
  SIGNALBOX_API_TOKEN: \${{ secrets.SIGNALBOX_API_TOKEN }}
jobs:
  python:${job(client, 'python3 -m pytest -q --junitxml=reports/pytest.xml')}
  javascript:${job(client, 'npx vitest run --globals --reporter=junit --outputFile=reports/vitest.xml')}
`;

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const cleanup = createCleanup();
try {
  const client = buildClient(cleanup);
  const { call, repo, put, replace, openPullRequest, ask, readLog } = await openGiteaActions(cleanup);
  const onMain = { branch: 'main' };
  await put('cart.py', cart('sum(prices)'), onMain);
  await put('test_cart.py', cartTests, onMain);
  await put('shop.mjs', shop('(a, b) => a - b'), onMain);
  await put('shop.test.mjs', shopTests, onMain);
  await put('.gitea/workflows/ci.yaml', workflow(client), onMain);
  const open = async (branch: string, path: string, text: string) => {
    await put(`${branch}.txt`, `${branch}\n`, { branch: 'main', new_branch: branch });
    if (path !== '') await replace(path, text, branch);
    return openPullRequest(branch);
  };
  const numbers = [
    await open('good', '', ''),
    await open('breaks-cart', 'cart.py', cart('sum(prices) + 1')),
    await open('also-good', '', ''),
    await open('breaks-shop', 'shop.mjs', shop('(a, b) => b - a')),
  ];
  const [good, breaksCart, alsoGood, breaksShop] = numbers;

  const queue = { repo, targetBranch: 'main' };
  const requiredStatuses = ['ci / python (push)', 'ci / javascript (push)'];
  await call('createQueue', { ...queue, requiredStatuses });
  await call('updateQueue', { ...queue, state: 'PAUSED' });
  for (const number of numbers) await call('submitPullRequest', { ...queue, pr: { number } });
  await call('updateQueue', { ...queue, state: 'RUNNING' });
  const states = new Map<number, string>();
  await until(
    'the end of all pull requests',
    async () => {
      for (const number of numbers) {
        const found = await call('getSubmittedPullRequest', { ...queue, pr: { number } });
        if (!found.isCurrentlySubmittedToQueue) states.set(number, found.state);
      }
      return states.size === numbers.length ? states : null;
    },
    { withinMs: 600_000 },
  );
  const { testRuns } = await call('listTestRuns', {
    ...queue,
    since: new Date(Date.now() - 3_600_000).toISOString(),
    until: new Date(Date.now() + 60_000).toISOString(),
    take: 100,
  });
  for (const { tested, status, selectedTests } of testRuns.toReversed())
    console.error(`run of ${tested.join('+')}: ${status}, ${selectedTests ?? 'all'} tests`);
  const { uploads } = await call('listUploads', { repo, org_url_slug: organization, page_query: {} });
  const ofSome = new Set(
    testRuns.filter(({ selectedTests }) => (selectedTests ?? null) !== null).map((run) => run.testRunId),
  );
  const targeted = uploads.filter(({ branch }) => ofSome.has(branch.split('/').at(-1)!));
  for (const { branch, job: name, tests, failed, skipped } of targeted)
    console.error(`report of ${branch}, ${name}: ${tests} tests, ${failed} failed, ${skipped} skipped`);
  const countOf = (state: string, ...wanted: (number | undefined)[]) =>
    wanted.filter((number) => states.get(number!) === state).length;
  const figures: Figure[] = [
    exactly('sound pull requests that merged', countOf('merged', good, alsoGood), 2),
    exactly('pull requests removed that broke a test', countOf('failed', breaksCart, breaksShop), 2),
    atLeast('runs of some tests', ofSome.size, 3),
    atLeast('reports of these runs', targeted.length, 2),
    // Vitest lists the tests of a file that it does not run as skipped.
    exactly(
      'most tests that ran in one of these reports',
      Math.max(0, ...targeted.map(({ tests, skipped }) => tests - skipped)),
      1,
    ),
  ];
  if (figures.some(isMissed)) {
    const { jobs } = await ask<{ jobs: readonly { readonly id: number }[] }>('GET', '/actions/jobs?limit=50');
    for (const { id } of jobs.slice(0, 6)) console.error(await readLog(id));
  }
  if (values.json) console.log(JSON.stringify({ figures }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}

function exactly(name: string, value: number, goal: number): Figure {
  return { name, value, goal: `${goal}`, isMet: value === goal };
}

function atLeast(name: string, value: number, goal: number): Figure {
  return { name, value, goal: `at least ${goal}`, isMet: value >= goal };
}
