/** Uploads: addresses for bundles, the door for one report, what is refused, and what a fork's token may do. */
import { randomUUID } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { bundleOf, junit, type Outcome } from '../health/bundle.ts';
import { brief } from './check.ts';
import { computeTestId } from './identity.ts';
import { expectEmpty, expectError, expectField, expectInvalid, expectOk } from './expect.ts';
import { pick, pickList } from './json.ts';
import { createUpload, getUpload, pathOf, put, readUpload, sendReport } from './upload.ts';
import { freshRepo, post, type Repo, type World } from './world.ts';

const OUTCOMES: readonly Outcome[] = [
  { name: 'lights a lamp' },
  { name: 'moves a lever', failure: 'the lever is stuck' },
];

export async function checkBundles(world: World): Promise<void> {
  const { recorder } = world;
  if (!world.hasSandbox) return recorder.skip('bundles', 'no sandbox');
  const repo = freshRepo(world, 'bundle');
  const lenient = {
    clientVersion: 'conformance 1',
    remoteUrls: ['https://sandbox.example/x.git'],
    externalId: 'run-1',
    testCollectionShortId: 'abc',
    unknown: { key: 1 },
  };
  const made = await createUpload(world, repo, lenient);
  if (!expectOk(world, 'createBundleUpload takes what uploaders send', made)) return;
  for (const key of ['id', 'idV2', 'url', 'key'])
    recorder.check(`createBundleUpload tells ${key}`, typeof pick(made.json, key) === 'string', made.text);
  const [id, path] = [pick(made.json, 'id'), pathOf(pick(made.json, 'url'))];
  recorder.check('the address is outside of /v1', path.startsWith('/uploads/'), path);
  const awaited = await getUpload(world, repo, id);
  expectField(world, 'before it is sent it is awaited', awaited, ['upload', 'state'], 'awaited');
  await checkForgedAddresses(world, path);
  const bundle = bundleOf({ repo, org: world.slug, reports: [junit(OUTCOMES)] });
  expectEmpty(world, 'the bundle is taken without a token', await put(world, path, bundle));
  expectEmpty(world, 'the same bytes again change nothing', await put(world, path, bundle));
  const other = bundleOf({ repo, reports: [junit([])] });
  expectError(world, 'other bytes', await put(world, path, other), 409, 'UPLOAD_ALREADY_STORED');
  await checkBundleRead(world, repo, id);
  const again = await createUpload(world, repo);
  await put(world, pathOf(pick(again.json, 'url')), bundle);
  const duplicate = await readUpload(world, repo, pick(again.json, 'id'));
  expectField(world, 'the same bundle twice is a duplicate', duplicate, ['upload', 'duplicate_of'], id);
  await checkBundleErrors(world, repo);
}

async function checkForgedAddresses(world: World, path: string): Promise<void> {
  const forged: Readonly<Record<string, string>> = {
    'a later expiry': path.replace(/expires=\d/, 'expires=9'),
    'no signature': path.replace(/&signature=[^&]*/, ''),
    'another signature': path.replace(/signature=.{6}/, 'signature=AAAAAA'),
    'another upload': path.replace(/_[0-9a-f]{8}-/, '_01234567-'),
  };
  for (const [what, address] of Object.entries(forged)) {
    const answer = await put(world, address, Buffer.from('x'));
    expectError(world, `an address with ${what}`, answer, 403, 'UPLOAD_ADDRESS_INVALID');
  }
  expectError(world, 'an empty upload', await put(world, path, Buffer.alloc(0)), 400, 'NOT_A_REPORT');
}

async function checkBundleRead(world: World, repo: Repo, id: unknown): Promise<void> {
  const read = await readUpload(world, repo, id);
  const expected = { state: 'ingested', trust: 'full', tests: 2, passed: 1, failed: 1, flaky: 0, skipped: 0 };
  for (const [key, value] of Object.entries(expected))
    expectField(world, `${key} of the bundle`, read, ['upload', key], value);
  expectField(world, 'its commit is what meta.json says', read, ['upload', 'sha'], 'a'.repeat(40));
  expectField(world, 'its branch is what meta.json says', read, ['upload', 'branch'], 'main');
  const parts = { file: 'test/sum.test.ts', classname: 'Sum', parent: 'calculator' };
  const testId = computeTestId(world.slug, repo, { ...parts, name: 'moves a lever' });
  const failure = ['upload', 'failures', 0];
  expectField(world, 'the id of a test that came by a bundle', read, [...failure, 'test_case_id'], testId);
  expectField(world, 'a test that is new is unknown', read, [...failure, 'verdict'], 'unknown');
  const listed = await post(world, 'flaky-tests/list-uploads', {
    repo,
    org_url_slug: world.slug,
    page_query: { page_size: 1 },
  });
  expectField(world, 'it is listed', listed, ['uploads', 0, 'id'], id);
}

async function checkBundleErrors(world: World, repo: Repo): Promise<void> {
  const { readToken, otherToken } = world.options;
  const slug = await createUpload(world, repo, { orgUrlSlug: `${world.slug}-not` });
  expectError(world, 'an address for another slug', slug, 404, 'ORGANIZATION_NOT_FOUND');
  expectError(
    world,
    'an unknown upload',
    await getUpload(world, repo, randomUUID()),
    404,
    'UPLOAD_NOT_FOUND',
  );
  if (readToken) {
    const answer = await createUpload(world, repo, {}, { token: readToken });
    expectError(world, 'an address with the scope read', answer, 403, 'INSUFFICIENT_SCOPE');
    const report = await sendReport(world, repo, junit(OUTCOMES), {}, { token: readToken });
    expectError(world, 'a report with the scope read', report, 403, 'INSUFFICIENT_SCOPE');
  } else world.recorder.skip('uploads with the scope read', '--read-token');
  if (otherToken) {
    const answer = await sendReport(world, repo, junit(OUTCOMES), {}, { token: otherToken });
    expectError(world, 'a report for another organization', answer, 404, 'ORGANIZATION_NOT_FOUND');
  } else world.recorder.skip('uploads for another organization', '--other-token');
  const telemetry = { raw: Buffer.from([8, 1]), contentType: 'application/x-protobuf' };
  const path = '/v1/flakytests-cli/upload-metrics';
  expectEmpty(world, 'telemetry of uploaders', await world.client.send(path, telemetry));
  const stranger = await world.client.send(path, { ...telemetry, token: null });
  expectError(world, 'telemetry without a token', stranger, 401, 'AUTHENTICATION_REQUIRED');
}

export async function checkReports(world: World): Promise<void> {
  const { recorder } = world;
  if (!world.hasSandbox) return recorder.skip('reports', 'no sandbox');
  const repo = freshRepo(world, 'report');
  const xml = junit(OUTCOMES);
  const forms = { plain: Buffer.from(xml), gzip: gzipSync(xml), zstd: zstdCompressSync(xml) };
  for (const [form, bytes] of Object.entries(forms)) {
    const answer = await sendReport(world, repo, bytes, { job: form });
    expectField(world, `a report as ${form}: tests accepted`, answer, ['accepted'], 2);
    expectField(world, `a report as ${form}: nothing rejected`, answer, ['rejected'], []);
    if (form === 'plain') continue;
    const headers = { 'content-encoding': form };
    const told = await sendReport(world, repo, bytes, { job: `${form} told` }, { headers });
    expectField(world, `a report told as ${form}: tests accepted`, told, ['accepted'], 2);
  }
  const first = await sendReport(world, repo, xml, { job: 'same', pr: '7', attempt: '2' });
  const again = await sendReport(world, repo, xml, { job: 'same', pr: '7', attempt: '2' });
  const id = pick(first.json, 'upload_id');
  expectField(world, 'the same report for the same place is the same upload', again, ['upload_id'], id);
  const later = await sendReport(world, repo, xml, { job: 'same', pr: '7', attempt: '3' });
  recorder.check('another attempt is another upload', pick(later.json, 'upload_id') !== id, later.text);
  const read = await readUpload(world, repo, id);
  for (const [key, value] of Object.entries({ pr: 7, job: 'same', state: 'ingested', trust: 'full' }))
    expectField(world, `${key} of the report`, read, ['upload', key], value);
  await checkReportErrors(world, repo, xml);
  await checkForkedReports(world);
}

async function checkReportErrors(world: World, repo: Repo, xml: string): Promise<void> {
  for (const body of ['', 'no report', '{"a":1}', '<html></html>']) {
    const answer = await sendReport(world, repo, body);
    expectError(world, `a body that is no report: ${brief(body)}`, answer, 400, 'NOT_A_REPORT');
  }
  const cut = await sendReport(world, repo, xml.slice(0, xml.indexOf('moves a lever')));
  expectField(world, 'a report that is cut off: what was whole is accepted', cut, ['accepted'], 1);
  const codes = pickList(cut.json, 'rejected').map((item) => pick(item, 'code'));
  world.recorder.check('a report that is cut off is told so', codes.includes('TRUNCATED'), cut.text);
  const item = pick(cut.json, 'rejected', 0);
  const isWhole =
    ['file', 'code', 'message'].every((key) => typeof pick(item, key) === 'string') &&
    typeof pick(item, 'count') === 'number';
  world.recorder.check('what is rejected is itemised', isWhole, cut.text);
  const large = Buffer.concat([Buffer.from(xml), Buffer.alloc(20 * 1_048_576, 0x20)]);
  expectError(world, 'a report over 20 MiB', await sendReport(world, repo, large), 413, 'BODY_TOO_LARGE');
  const invalid = { sha: 'HEAD', pr: 'x', repo: 'name', attempt: '0' };
  const answer = await sendReport(world, repo, xml, invalid);
  expectInvalid(world, 'a report with a wrong query', answer, ...Object.keys(invalid));
  const nothing = await world.client.send('/v1/flaky-tests/upload', { raw: xml });
  expectInvalid(world, 'a report without a query', nothing, 'repo', 'org_url_slug', 'sha', 'branch');
}

/** What a fork's token sends is shown, and nothing is classified by it. */
async function checkForkedReports(world: World): Promise<void> {
  if (!world.options.uploadToken)
    return world.recorder.skip('uploads of the untrusted tier', '--upload-token');
  const repo = freshRepo(world, 'fork');
  // A token that may only upload is bound to a repository that is known.
  await sendReport(world, repo, junit(OUTCOMES.slice(0, 1)));
  const wish = { name: `conformance ${world.run}`, scopes: ['upload'], repositories: [repo] };
  const made = await post(world, 'createToken', wish);
  expectOk(world, 'a token for uploads to one repository', made);
  const token = String(pick(made.json, 'value'));
  let last: unknown;
  for (const digit of '123')
    for (const attempt of ['1', '2']) {
      const failure = attempt === '1' ? { failure: 'the lamp is dark' } : {};
      const query = { sha: digit.repeat(40), attempt, run_id: digit };
      const xml = junit([...OUTCOMES.slice(0, 1), { name: 'forked', ...failure }]);
      last = pick((await sendReport(world, repo, xml, query, { token })).json, 'upload_id');
    }
  const read = await readUpload(world, repo, last);
  expectField(world, 'a token that may only upload is not trusted', read, ['upload', 'trust'], 'untrusted');
  expectField(world, 'what it sends is shown', read, ['upload', 'tests'], 2);
  const body = { repo, org_url_slug: world.slug, page_query: {} };
  for (const status of ['FLAKY', 'BROKEN']) {
    const list = await post(world, 'flaky-tests/list-unhealthy-tests', { ...body, status });
    expectField(world, `no test is ${status} by it`, list, ['tests'], []);
  }
}
