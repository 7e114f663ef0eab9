// A well-behaved tenant in a process of its own, so that what the attackers compute does not count as its waiting. It reads
// and writes all the time, a few requests after each other, and answers how long each took.

import { setTimeout as sleep } from 'node:timers/promises';

export type NeighbourAnswer = { readonly times: readonly number[]; readonly failures: readonly number[] };

const [, , url = '', token = ''] = process.argv;
const repo = { host: 'sandbox.example', owner: 'neighbour', name: 'widgets' };
const target = { repo, targetBranch: 'main' };

const post = async (path: string, body: object): Promise<number> => {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-api-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
};

const targets = Array.from({ length: 4_000 }, (_, at) => `//neighbour/of/good/manners:${at}`);
const calls: readonly (readonly [path: string, body: object])[] = [
  ['/v1/getOrganization', {}],
  ['/v1/listQueues', {}],
  ['/v1/getQueue', target],
  ['/v1/listPullRequests', target],
  ['/v1/flaky-tests/search-tests', { org_url_slug: 'neighbour', query: 'sum' }],
  ['/v1/setImpactedTargets', { ...target, pr: { number: 1, sha: 'a'.repeat(40) }, impactedTargets: ['a'] }],
  ['/v1/setImpactedTargets', { ...target, pr: { number: 2, sha: 'b'.repeat(40) }, impactedTargets: targets }],
];

const state = { times: [] as number[], failures: [] as number[], isRunning: false };

process.on('message', (message: 'go' | 'stop') => {
  state.isRunning = message === 'go';
  if (message === 'go') return;
  const answer: NeighbourAnswer = { times: state.times, failures: state.failures };
  process.send?.(answer);
  state.times = [];
  state.failures = [];
});

await post('/sandbox/v1/configureRepository', { repo, ci: { mode: 'manual' } });
await post('/v1/createQueue', target);
process.send?.('ready');

for (let turn = 0; ; turn += 1) {
  if (!state.isRunning) {
    await sleep(5);
    continue;
  }
  const [path, body] = calls[turn % calls.length]!;
  const from = performance.now();
  const status = await post(path, body).catch(() => 599);
  state.times.push(performance.now() - from);
  if (status >= 500) state.failures.push(status);
  await sleep(10);
}
