// Limits, as a well-behaved client meets them.
import { Octokit } from '@octokit/core';
import { throttling } from '@octokit/plugin-throttling';
import { describe, expect, it } from 'vitest';
import { asUser, openGithubServer, refusalOf } from './for-test.ts';
import { silentLog } from '../support/silent-log.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const get = 'GET /repos/{owner}/{repo}';

async function openWidgets(clock = { now: () => new Date() }) {
  const github = await openGithubServer({ clock });
  const { token } = github.newUser('ada');
  await github.newRepository('acme/widgets', { access: { ada: 'write' } });
  return { github, token, octokit: asUser(github, token) };
}

describe('the limit of requests an hour', () => {
  it('is told with every answer, and 304 costs nothing', async () => {
    const { github, octokit } = await openWidgets();
    const first = await octokit.request(get, widgets);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4999',
      'x-ratelimit-resource': 'core',
    });
    const { etag } = first.headers;
    const same = { ...widgets, headers: { 'if-none-match': etag! } };
    expect(await refusalOf(octokit.request(get, same))).toMatchObject({ status: 304 });
    expect(await refusalOf(octokit.request(get, same))).toMatchObject({ status: 304 });
    const { data } = await octokit.request('GET /rate_limit');
    expect(data.rate).toMatchObject({ limit: 5_000, used: 1, remaining: 4_999 });
    await github.commit('acme/widgets', { files: { x: 'x' } });
    await github.openPullRequest('acme/widgets', { branch: 'x', files: { y: 'x' } });
    expect((await octokit.request(get, same)).status).toBe(200);
    expect(github.callCounts()[get]).toBe(2);
  });

  it('refuses when it is reached, until the hour is over', async () => {
    let offsetMs = 0;
    const { github, octokit } = await openWidgets({ now: () => new Date(Date.now() + offsetMs) });
    github.setLimits({ perHour: 2 });
    await octokit.request(get, widgets);
    await octokit.request(get, widgets);
    const error = await octokit
      .request(get, widgets)
      .catch((caught: unknown) => caught as { status: number; message: string; response: Response });
    expect(error).toMatchObject({
      status: 403,
      message: expect.stringContaining('API rate limit exceeded for user ID') as string,
      response: { headers: { 'x-ratelimit-remaining': '0' } },
    });
    github.setLimits({ status: 429 });
    expect(await refusalOf(octokit.request(get, widgets))).toMatchObject({ status: 429 });
    offsetMs = 3_600_001;
    await octokit.request(get, widgets);
  });

  it('is understood by the throttling of Octokit, which asks again when it may', async () => {
    // The hour is nearly over by the server's clock, so that the client's wait is short.
    const { github, token } = await openWidgets({ now: () => new Date(Date.now() - 3_598_000) });
    github.setLimits({ perHour: 1 });
    const limits: string[] = [];
    const again = (kind: string) => (retryAfter: number) => {
      limits.push(`${kind} ${retryAfter > 0}`);
      github.setLimits({ perHour: 5_000, pointsPerMinute: 900 });
      return true;
    };
    const octokit = new (Octokit.plugin(throttling))({
      baseUrl: github.apiUrl,
      auth: token,
      log: silentLog,
      throttle: {
        onRateLimit: again('primary'),
        onSecondaryRateLimit: again('secondary'),
        retryAfterBaseValue: 1,
      },
    });
    await octokit.request(get, widgets);
    expect((await octokit.request(get, widgets)).status).toBe(200);
    expect(limits).toEqual(['primary true']);
    github.setLimits({ pointsPerMinute: 1 });
    expect((await octokit.request(get, widgets)).status).toBe(200);
    expect(limits).toEqual(['primary true', 'secondary true']);
  });
});

describe('the secondary limits', () => {
  it('count points a minute, of which writing takes five', async () => {
    const { github, octokit } = await openWidgets();
    await github.openPullRequest('acme/widgets', { branch: 'x', files: { x: 'x' } });
    github.setLimits({ pointsPerMinute: 6, retryAfterSeconds: 7 });
    const comment = () =>
      octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
        ...widgets,
        issue_number: 1,
        body: 'x',
      });
    await comment();
    await octokit.request(get, widgets);
    const error = await comment().catch((caught: unknown) => caught as { status: number });
    expect(error).toMatchObject({
      status: 403,
      message: expect.stringContaining('secondary rate limit') as string,
      response: { headers: { 'retry-after': '7' } },
    });
  });

  it('allow 80 requests that create content in a minute and 500 in an hour, and any number of others', async () => {
    let offsetMs = 0;
    const clock = { now: () => new Date(1_700_000_000_000 + offsetMs) };
    const github = await openGithubServer({ clock, edition: 'api.github.com' });
    const { token } = github.newUser('ada');
    await github.newRepository('acme/widgets', { access: { ada: 'write' } });
    const octokit = asUser(github, token);
    await github.openPullRequest('acme/widgets', { branch: 'x', files: { x: 'x' } });
    const comment = () =>
      octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
        ...widgets,
        issue_number: 1,
        body: 'x',
      });
    for (let count = 0; count < 80; count += 1) await comment();
    const blocked = {
      status: 403,
      message: expect.stringContaining('blocked from content creation') as string,
    };
    expect(await refusalOf(comment())).toMatchObject(blocked);
    await octokit.request(get, widgets);
    github.setLimits({ contentPerHour: 81 });
    offsetMs = 60_001;
    await comment();
    expect(await refusalOf(comment())).toMatchObject(blocked);
    offsetMs = 3_600_001;
    await comment();
  });

  it('count what is asked at once', async () => {
    const { github, octokit } = await openWidgets();
    github.setLimits({ concurrent: 2 });
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...widgets, branch: 'main' }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 'rejected').length;
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(20);
  });
});
