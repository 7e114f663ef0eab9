/** The rate limit, last of all: it spends what the other sections would need. */
import { setTimeout as sleep } from 'node:timers/promises';
import { brief } from './check.ts';
import { show, type Answer } from './client.ts';
import { expectError, expectOk } from './expect.ts';
import { pick } from './json.ts';
import { post, type World } from './world.ts';

/** Well over the default burst of 200 and what comes back while it lasts. */
const BURST = 1500;
/** More than the default burst, so that a slow deployment comes to its limit too. */
const AT_ONCE = 300;

/** Sends `count` requests, `AT_ONCE` at a time, until one is limited and then another 100. */
async function burst(count: number, ask: (index: number) => Promise<Answer>): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let left = count;
  for (let index = 0; left > 0; index += AT_ONCE) {
    const batch = await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, left) }, (_, i) => ask(index + i)),
    );
    answers.push(...batch);
    left -= batch.length;
    if (batch.some((answer) => answer.status === 429)) left = Math.min(left, 100);
  }
  return answers;
}

function checkLimited(world: World, name: string, limited: Answer | undefined, asked: number): boolean {
  const detail = `no 429 among ${asked} requests; is the limit of this deployment set higher than the default?`;
  if (!world.recorder.check(`${name} is limited`, limited !== undefined, detail) || !limited) return false;
  expectError(world, `${name} over the limit`, limited, 429, 'RATE_LIMITED');
  const after = limited.headers['retry-after'] ?? '';
  const isWhole = /^[1-9]\d*$/.test(after);
  world.recorder.check(`${name} says Retry-After in whole seconds`, isWhole, `retry-after: ${brief(after)}`);
  return isWhole;
}

export async function checkRateLimit(world: World): Promise<void> {
  const { options, recorder } = world;
  const quick = { retry: false } as const;
  // Every third request is malformed, so that a limited one shows which of the two comes first.
  const answers = await burst(BURST, (index) =>
    index % 3 === 2
      ? world.client.send('/v1/getOrganization', { ...quick, raw: '{' })
      : post(world, 'getOrganization', {}, quick),
  );
  const limited = answers.find((answer) => answer.status === 429);
  const during = await askDuring(world);
  if (!checkLimited(world, 'the API', limited, answers.length)) return;
  const others = answers.filter((answer) => ![200, 400, 429].includes(answer.status)).map(show);
  recorder.equal('a burst is answered by 200, 400 or 429 and nothing else', others.slice(0, 3), []);
  const isFirst = answers.some((answer) => answer.status === 429 && answer.asked.endsWith(' {'));
  recorder.check('429 comes before anything about the body', isFirst, 'no malformed request was limited');
  const passed = answers.filter((answer) => answer.status !== 429).length;
  recorder.check('a burst is let through before the limit', passed >= 50, `only ${passed} passed`);
  expectError(world, '401 comes before 429', during.unknown, 401, 'INVALID_TOKEN');
  if (during.scoped) expectError(world, '403 comes before 429', during.scoped, 403, 'INSUFFICIENT_SCOPE');
  else recorder.skip('403 comes before 429', '--read-token');
  if (during.other) expectOk(world, 'another organization is not limited by it', during.other);
  else recorder.skip('another organization is not limited by it', '--other-token');
  await sleep(Number(limited?.headers['retry-after']) * 1000);
  const after = await post(world, 'getOrganization', {}, quick);
  recorder.equal('after Retry-After it answers again', after.status, 200, after.asked);
  recorder.check(
    'and knows the organization',
    pick(after.json, 'organization', 'slug') === world.slug,
    show(after),
  );
  await checkMetricsLimit(world, options.token);
}

/** Asked at once after the burst, while the organization has next to nothing left. */
async function askDuring(world: World) {
  const { readToken, otherToken } = world.options;
  const quick = { retry: false } as const;
  const ask = (token: string | undefined, name: string) =>
    token ? post(world, name, {}, { ...quick, token }) : Promise.resolve(undefined);
  const [unknown, scoped, other] = await Promise.all([
    post(world, 'getOrganization', {}, { ...quick, token: 'sbx_conformance_no_such_token' }),
    ask(readToken, 'createQueue'),
    ask(otherToken, 'getOrganization'),
  ]);
  return { unknown, scoped, other };
}

async function checkMetricsLimit(world: World, token: string): Promise<void> {
  const call = { method: 'GET', token, retry: false } as const;
  const answers = await burst(100, () => world.client.send('/v1/getMergeQueueMetrics', call));
  const limited = answers.find((answer) => answer.status === 429);
  if (!checkLimited(world, 'getMergeQueueMetrics', limited, answers.length)) return;
  const org = await post(world, 'getOrganization', {}, { retry: false });
  world.recorder.equal('the limit of metrics is one of its own', org.status, 200, org.asked);
}
