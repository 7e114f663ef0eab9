/** getMergeQueueMetrics: its parameters, its families and labels, and numbers that can be known from outside. */
import { brief } from './check.ts';
import { show, type Answer } from './client.ts';
import { expectError, expectInvalid, expectOk } from './expect.ts';
import { parseExposition, seriesKey, type Exposition, type Sample } from './prometheus.ts';
import { cancel, freshRepo, makePausedQueue, makeQueue, submit, type QueueRef, type World } from './world.ts';

const GAUGES = [
  'mq_depth_current',
  'mq_awaiting_mergeability',
  'mq_testing_slots_active',
  'mq_pr_conclusions_1h_total',
  'mq_pr_restarts_1h_total',
];
const HISTOGRAMS = [
  'mq_pr_wait_duration_1h_seconds',
  'mq_pr_test_duration_1h_seconds',
  'mq_pr_time_in_queue_1h_seconds',
] as const;
const BUCKETS = ['60', '300', '600', '900', '1800', '3600', '5400', '7200', '+Inf'];

function getMetrics(world: World, query: Record<string, string>, token?: string): Promise<Answer> {
  return world.client.send('/v1/getMergeQueueMetrics', { method: 'GET', query, ...(token ? { token } : {}) });
}

function queryOf(queue: QueueRef): Record<string, string> {
  return { repo: `${queue.repo.owner}/${queue.repo.name}`, repoHost: queue.repo.host };
}

export async function checkMetricsParameters(world: World): Promise<void> {
  const alone = await getMetrics(world, { repo: 'acme/widgets' });
  expectInvalid(world, 'repo without repoHost', alone, 'repoHost');
  const host = await getMetrics(world, { repoHost: 'sandbox.example' });
  expectInvalid(world, 'repoHost without repo', host, 'repo');
  const flat = await getMetrics(world, { repo: 'widgets', repoHost: 'sandbox.example' });
  expectInvalid(world, 'repo without an owner', flat, 'repo');
  const ghost = { repo: freshRepo(world, 'ghost'), targetBranch: 'main' };
  const none = await getMetrics(world, queryOf(ghost));
  expectError(world, 'a repository without a queue', none, 404, 'QUEUE_NOT_FOUND', 'REPOSITORY_NOT_FOUND');
}

export async function checkMetrics(world: World): Promise<void> {
  const { recorder } = world;
  const queue = await makePausedQueue(world, 'metrics');
  const nested = { repo: freshRepo(world, 'metrics-nested', 'org/sub'), targetBranch: 'odd"branch' };
  const nestedMade = await makeQueue(world, nested);
  if (world.hasSandbox) for (const number of [1, 2, 3]) await submit(world, queue, number);
  if (world.hasSandbox) await cancel(world, queue, 3);
  const answer = await getMetrics(world, queryOf(queue));
  expectOk(world, 'metrics of one repository', answer);
  const type = answer.headers['content-type'];
  recorder.equal('their content type', type, 'text/plain; version=0.0.4; charset=utf-8');
  const exposition = parseExposition(answer.text);
  recorder.equal('they can be parsed', exposition.problems, []);
  checkFamilies(world, exposition);
  const name = `${queue.repo.owner}/${queue.repo.name}`;
  const repos = [...new Set(exposition.samples.map((sample) => sample.labels['repo']))];
  recorder.equal('one repository is all that is told', repos, [name]);
  checkValues(world, exposition, { repo: name, branch: 'main', queue_type: 'main' });
  for (const histogram of HISTOGRAMS) checkHistogram(world, exposition, histogram);
  const shouted = await getMetrics(world, { ...queryOf(queue), repoHost: 'Sandbox.EXAMPLE' });
  expectOk(world, 'repoHost is compared without case', shouted);
  const whole = parseExposition((await getMetrics(world, {})).text);
  recorder.equal('metrics of the organization can be parsed', whole.problems, []);
  const all = new Set(whole.samples.map((sample) => sample.labels['repo']));
  recorder.check('they hold this repository', all.has(name), brief([...all]));
  const other = `org/sub/${nested.repo.name}`;
  if (nestedMade.status !== 200)
    return recorder.skip('metrics of an odd branch name', 'its queue was refused');
  recorder.check('they hold a nested owner', all.has(other), brief([...all]));
  const odd = await getMetrics(world, queryOf(nested));
  recorder.equal('an odd branch name is escaped', parseExposition(odd.text).problems, [], show(odd));
}

function checkFamilies(world: World, exposition: Exposition): void {
  const { recorder } = world;
  // A gauge named `_total` would not pass `promtool check metrics`; left untyped it does.
  for (const name of GAUGES)
    recorder.equal(
      `type of ${name}`,
      exposition.types.get(name),
      name.endsWith('_total') ? 'untyped' : 'gauge',
    );
  for (const name of HISTOGRAMS)
    recorder.equal(`${name} is a histogram`, exposition.types.get(name), 'histogram');
  for (const name of [...GAUGES, ...HISTOGRAMS])
    recorder.check(`${name} has a help line`, exposition.helps.has(name), brief([...exposition.helps]));
  const bare = exposition.samples.filter(
    ({ labels }) =>
      !labels['repo'] || !labels['branch'] || !/^(main|bisection)$/.test(labels['queue_type'] ?? ''),
  );
  const isLabelled = exposition.samples.length > 0 && bare.length === 0;
  recorder.check('every series has repo, branch and queue_type', isLabelled, brief(bare[0]));
}

function checkValues(world: World, exposition: Exposition, labels: Record<string, string>): void {
  const { recorder } = world;
  const values = new Map(exposition.samples.map((s) => [seriesKey(s.name, s.labels), s.value]));
  const value = (name: string, more: object = {}) => values.get(seriesKey(name, { ...labels, ...more }));
  const live = world.hasSandbox ? 2 : 0;
  const ended = world.hasSandbox ? 1 : 0;
  recorder.equal('what is not ready awaits mergeability', value('mq_awaiting_mergeability'), live);
  recorder.equal('and is not in the depth', value('mq_depth_current'), 0);
  recorder.equal('nothing is under test', value('mq_testing_slots_active'), 0);
  recorder.equal('nothing was restarted', value('mq_pr_restarts_1h_total'), 0);
  const conclusions = (conclusion: string) => value('mq_pr_conclusions_1h_total', { conclusion });
  recorder.equal('cancellations are counted', conclusions('cancelled'), ended);
  recorder.equal('no merge is a zero', conclusions('merged'), 0);
  recorder.equal('no failure is a zero', conclusions('failed'), 0);
}

export type KnownNumbers = {
  readonly merged: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Admitted and not ended. */
  readonly live: number;
  readonly testing?: number;
};

/** Numbers of a queue of which all that happened is known. */
export async function checkMetricsOf(
  world: World,
  queue: QueueRef,
  when: string,
  known: KnownNumbers,
): Promise<void> {
  const { recorder } = world;
  const answer = await getMetrics(world, queryOf(queue));
  const { samples, problems } = parseExposition(answer.text);
  recorder.equal(`metrics ${when} can be parsed`, problems, []);
  const value = (name: string, more: Record<string, string> = {}) =>
    samples.find(
      (s) => s.name === name && isMain(s) && Object.entries(more).every(([key, v]) => s.labels[key] === v),
    )?.value;
  for (const conclusion of ['merged', 'failed', 'cancelled'] as const)
    recorder.equal(
      `${conclusion} ${when}`,
      value('mq_pr_conclusions_1h_total', { conclusion }),
      known[conclusion],
    );
  recorder.equal(`depth ${when}`, value('mq_depth_current'), known.live);
  recorder.equal(`slots in use ${when}`, value('mq_testing_slots_active'), known.testing ?? 0);
  recorder.equal(`nothing awaits mergeability ${when}`, value('mq_awaiting_mergeability'), 0);
  const tested = known.merged + known.failed;
  for (const name of HISTOGRAMS) recorder.equal(`${name} counts ${when}`, value(`${name}_count`), tested);
  const spent = (name: string) => value(`${name}_sum`) ?? -1;
  const [wait, test, whole] = [spent(HISTOGRAMS[0]), spent(HISTOGRAMS[1]), spent(HISTOGRAMS[2])];
  const isWhole = wait >= 0 && (tested === 0 ? test === 0 : test > 0) && whole + 0.001 >= wait + test;
  recorder.check(`time in the queue ${when} holds waiting and testing`, isWhole, brief([wait, test, whole]));
}

function isMain(sample: Sample): boolean {
  return sample.labels['queue_type'] === 'main';
}

function checkHistogram(world: World, exposition: Exposition, name: string): void {
  const { recorder } = world;
  const buckets = exposition.samples.filter((s) => s.name === `${name}_bucket` && isMain(s));
  recorder.equal(
    `${name} has its buckets`,
    buckets.map((s) => s.labels['le']),
    BUCKETS,
  );
  const counts = buckets.map((s) => s.value);
  const isCumulative =
    counts.length > 0 && counts.every((count, i) => i === 0 || count >= (counts[i - 1] ?? 0));
  recorder.check(`${name} is cumulative`, isCumulative, brief(counts));
  const total = exposition.samples.find((s) => s.name === `${name}_count` && isMain(s))?.value;
  recorder.equal(`${name} counts what is in +Inf`, total, counts.at(-1) ?? -1);
  const sum = exposition.samples.find((s) => s.name === `${name}_sum` && isMain(s))?.value;
  // Nothing was ever admitted here, and time in not_ready counts in none of them.
  recorder.equal(`${name} sums up nothing`, [sum, total], [0, 0]);
}
