/** Pages of test cases: forward, back, to the end, and tokens bound to their filter. */
import { brief } from './check.ts';
import type { Answer } from './client.ts';
import { expectError, expectField, expectInvalid, expectOk } from './expect.ts';
import { pick, pickList } from './json.ts';
import { freshRepo, post, sandbox, type Repo, type World } from './world.ts';

const COUNT = 27;

function ask(world: World, repo: Repo, page_query: unknown, status = 'FLAKY'): Promise<Answer> {
  return post(world, 'flaky-tests/list-unhealthy-tests', {
    repo,
    org_url_slug: world.slug,
    page_query,
    status,
  });
}

function namesOf(answer: Answer): readonly unknown[] {
  return pickList(answer.json, 'tests').map((test) => pick(test, 'name'));
}

function token(answer: Answer, which: 'next' | 'prev' | 'last'): unknown {
  return pick(answer.json, 'page', `${which}_page_token`);
}

export async function checkPages(world: World): Promise<void> {
  const empty = freshRepo(world, 'page-empty');
  for (const page_size of [0, 101, -1, 1.5, 'ten']) {
    const answer = await ask(world, empty, { page_size });
    expectInvalid(world, `page_size ${JSON.stringify(page_size)}`, answer, 'page_query.page_size');
  }
  for (const page_size of [1, 100])
    expectOk(world, `page_size ${page_size}`, await ask(world, empty, { page_size }));
  expectInvalid(world, 'page_token 7', await ask(world, empty, { page_token: 7 }), 'page_query.page_token');
  const garbage = await ask(world, empty, { page_token: 'no-such-token' });
  expectError(world, 'a page token that is none', garbage, 400, 'INVALID_PAGE_TOKEN');
  const nothing = await ask(world, empty, {});
  expectField(world, 'a repository without tests lists none', nothing, ['tests'], []);
  expectField(world, 'and counts none', nothing, ['page', 'total_rows'], 0);
  const ends = [token(nothing, 'next'), token(nothing, 'prev'), pick(nothing.json, 'page', 'page_index')];
  world.recorder.equal('and has one page, the first and last', ends, ['', '', 0]);
  if (!world.hasSandbox) return world.recorder.skip('pages of scripted test cases', 'no sandbox');
  const repo = freshRepo(world, 'page');
  const testCases = Array.from({ length: COUNT }, (_, index) => ({
    name: `test ${String(index).padStart(2, '0')}`,
    status: 'flaky',
    pullRequestsImpacted: COUNT - index,
  }));
  testCases.push({ name: 'broken one', status: 'broken', pullRequestsImpacted: 1 });
  testCases.push({ name: 'broken two', status: 'broken', pullRequestsImpacted: 1 });
  await sandbox(world, 'putTestCases', { repo, testCases });
  const names = testCases.slice(0, COUNT).map((test) => test.name);
  await checkDefaults(world, repo, names);
  await walkPages(world, repo, names);
  await checkBinding(world, repo);
}

async function checkDefaults(world: World, repo: Repo, names: readonly string[]): Promise<void> {
  const plain = await ask(world, repo, {});
  world.recorder.equal('25 without a page size', namesOf(plain), names.slice(0, 25), plain.asked);
  expectField(world, 'total_rows', plain, ['page', 'total_rows'], COUNT);
  expectField(world, 'total_pages', plain, ['page', 'total_pages'], 2);
  expectField(world, 'page_index counts from 0', plain, ['page', 'page_index'], 0);
  const first = await ask(world, repo, { page_token: '' });
  world.recorder.equal('an empty token is the first page', namesOf(first), names.slice(0, 25));
}

async function walkPages(world: World, repo: Repo, names: readonly string[]): Promise<void> {
  const { recorder } = world;
  const size = 10;
  const pages: Answer[] = [];
  let next: unknown = '';
  do {
    const page = await ask(world, repo, { page_size: size, page_token: next });
    pages.push(page);
    next = token(page, 'next');
  } while (typeof next === 'string' && next !== '' && pages.length < 10);
  recorder.equal('forward through every page, each test once', pages.flatMap(namesOf), names);
  recorder.equal(
    'in pages of the size asked for',
    pages.map((page) => namesOf(page).length),
    [10, 10, 7],
  );
  recorder.equal(
    'page_index goes up',
    pages.map((page) => pick(page.json, 'page', 'page_index')),
    [0, 1, 2],
  );
  recorder.equal('the last page has no next', next, '');
  const [first, second, third] = pages;
  if (!first || !second || !third) return;
  recorder.equal('the first page has no previous', token(first, 'prev'), '');
  const back = await ask(world, repo, { page_size: size, page_token: token(third, 'prev') });
  recorder.equal('back from the third page', namesOf(back), namesOf(second), back.asked);
  expectField(world, 'to the second', back, ['page', 'page_index'], 1);
  const start = await ask(world, repo, { page_size: size, page_token: token(back, 'prev') });
  recorder.equal('and back to the first', namesOf(start), namesOf(first), start.asked);
  recorder.equal('which has no previous', token(start, 'prev'), '');
  const last = await ask(world, repo, { page_size: size, page_token: token(first, 'last') });
  recorder.equal('last_page_token leads to the last page', namesOf(last), namesOf(third), last.asked);
  expectField(world, 'whose index is the last', last, ['page', 'page_index'], 2);
}

async function checkBinding(world: World, repo: Repo): Promise<void> {
  const { recorder } = world;
  const first = await ask(world, repo, { page_size: 10 });
  const page_token = token(first, 'next');
  const isToken = typeof page_token === 'string' && page_token !== '';
  recorder.check('a first page of three has a next', isToken, brief(first.json));
  const status = await ask(world, repo, { page_size: 10, page_token }, 'BROKEN');
  expectError(world, 'a page token under another status', status, 400, 'INVALID_PAGE_TOKEN');
  const other = await ask(world, freshRepo(world, 'page-other'), { page_size: 10, page_token });
  expectError(world, 'a page token under another repository', other, 400, 'INVALID_PAGE_TOKEN');
  const list = await post(world, 'flaky-tests/list-quarantined-tests', {
    repo,
    org_url_slug: world.slug,
    page_query: { page_size: 10, page_token },
  });
  expectError(world, 'a page token of another list', list, 400, 'INVALID_PAGE_TOKEN');
}
