import { Ajv2020 } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { type ErrorCode, errorRegistry } from '#base/error.ts';
import { defaultSettings } from '#core/queue/settings.ts';
import { bounds } from '../../test/fixture/setting-bounds.ts';
import type { Endpoint } from './endpoint/endpoint-type.ts';
import { commonErrors, endpoints, type Operation } from './endpoint/endpoint.ts';
import { exchangeCiToken } from './endpoint/endpoint-token.ts';
import { openApiDocument } from './endpoint/openapi.ts';

const repo = { host: 'github.com', owner: 'acme', name: 'widgets' };
const queue = { repo, targetBranch: 'main' };
const pr = { number: 7 };
const tests = { repo, org_url_slug: 'acme', page_query: {} };

// prettier-ignore
const noNumbers = [0, -1, 1.5, 4_294_967_296, '0', '4294967296', '', ' 7', '7.0', '-7', '0x7', 'seven', null, true, [7]];

const parse = (operation: Operation, body: unknown) =>
  (endpoints[operation].request as z.ZodType<Record<string, unknown>>).safeParse(body);

/** The paths of everything that is wrong. */
const pathsOf = (operation: Operation, body: unknown): readonly string[] =>
  parse(operation, body).error?.issues.map((issue) => issue.path.join('.')) ?? [];

const accepts = (operation: Operation, body: unknown): boolean => parse(operation, body).success;

describe('requests', () => {
  it('take enum values in any case and hand them on in theirs', () => {
    const body = { ...queue, mode: 'PARALLEL', mergeMethod: 'Merge_Commit', state: 'paused' };
    expect(parse('updateQueue', body).data).toMatchObject({
      mode: 'parallel',
      mergeMethod: 'merge_commit',
      state: 'PAUSED',
    });
    expect(parse('listUnhealthyTests', { ...tests, status: 'flaky' }).data).toMatchObject({
      status: 'FLAKY',
    });
    expect(pathsOf('updateQueue', { ...queue, mode: 'double', state: 'SWITCHING_MODES' })).toEqual([
      'mode',
      'state',
    ]);
  });

  it.each([
    [7, 7],
    ['7', 7],
    ['007', 7],
    [4_294_967_295, 4_294_967_295],
    ['4294967295', 4_294_967_295],
  ])('take the pull request number %j', (number, value) => {
    expect(parse('submitPullRequest', { ...queue, pr: { number } }).data).toMatchObject({
      pr: { number: value },
    });
  });

  it.each(noNumbers)('refuse the pull request number %j', (number) => {
    expect(pathsOf('submitPullRequest', { ...queue, pr: { number } })).toEqual(['pr.number']);
  });

  it('ignore keys that they do not know, at every depth', () => {
    const body = { ...queue, pr: { ...pr, more: 1 }, repo: { ...repo, more: 1 }, more: { deep: 1 } };
    expect(parse('submitPullRequest', body).data).toEqual({ ...queue, pr });
  });

  it('report several problems at once, each with its path', () => {
    const body = { repo: { host: 'a/b', owner: '/acme' }, targetBranch: 'a..b', pr: {}, priority: 256 };
    expect(pathsOf('submitPullRequest', body).toSorted()).toEqual(
      ['pr.number', 'priority', 'repo.host', 'repo.name', 'repo.owner', 'targetBranch'].toSorted(),
    );
    expect(pathsOf('submitPullRequest', {})).toEqual(['repo', 'targetBranch', 'pr']);
  });

  it.each([
    ['urgent', 0],
    ['HIGH', 10],
    ['Medium', 100],
    ['low', 200],
    [0, 0],
    [255, 255],
    ['42', 42],
  ])('take the priority %j as %i', (priority, value) => {
    expect(parse('submitPullRequest', { ...queue, pr, priority }).data).toMatchObject({ priority: value });
  });

  it.each(['highest', '', '256', '-1', -1, 256, 1.5, null, true, 'constructor', '__proto__', ['low']])(
    'refuse the priority %j',
    (priority) => {
      expect(pathsOf('submitPullRequest', { ...queue, pr, priority })).toEqual(['priority']);
    },
  );

  it.each(['acme', 'my-org/sub/group'])('take the owner %s', (owner) => {
    expect(accepts('getQueue', { ...queue, repo: { ...repo, owner } })).toBe(true);
  });

  it.each(['', '/acme', 'acme/', 'a//b', 'a b', 'a\nb', 'a'.repeat(256)])('refuse the owner %j', (owner) => {
    expect(pathsOf('getQueue', { ...queue, repo: { ...repo, owner } })).toContain('repo.owner');
  });

  it('want repo and repoHost of the metrics both or neither', () => {
    const [named, host] = [{ repo: 'group/sub/widgets' }, { repoHost: 'github.com' }];
    expect(accepts('getMergeQueueMetrics', {})).toBe(true);
    expect(accepts('getMergeQueueMetrics', { ...named, ...host })).toBe(true);
    expect(pathsOf('getMergeQueueMetrics', named)).toEqual(['repoHost']);
    expect(pathsOf('getMergeQueueMetrics', host)).toEqual(['repo']);
    expect(pathsOf('getMergeQueueMetrics', { repo: 'widgets', ...host })).toEqual(['repo']);
  });

  it('refuse control characters in the names of the metrics', () => {
    expect(accepts('getMergeQueueMetrics', { repo: 'acme/wid\0gets', repoHost: 'github.com' })).toBe(false);
    expect(accepts('getMergeQueueMetrics', { repo: 'acme/widgets', repoHost: 'git\0hub.com' })).toBe(false);
  });

  it('for failing tests span at most 7 days, forwards', () => {
    const spanOf = (start_time: string, end_time: string) =>
      pathsOf('listFailingTests', { ...tests, start_time, end_time });
    expect(spanOf('2026-03-01T00:00:00Z', '2026-03-08T00:00:00Z')).toEqual([]);
    expect(spanOf('2026-03-01T00:00:00Z', '2026-03-08T00:00:00.001Z')).toEqual(['end_time']);
    expect(spanOf('2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z')).toEqual(['end_time']);
    expect(spanOf('2026-03-01', '2026-03-02')).toEqual(['start_time', 'end_time']);
  });

  it('have the defaults of the contract for pages', () => {
    const page_query = { page_size: 25, page_token: '' };
    expect(parse('listQuarantinedTests', tests).data).toMatchObject({ page_query });
    expect(parse('listPullRequests', queue).data).toMatchObject({ take: 50 });
    const sizes = [0, 1, 100, 101].filter((page_size) =>
      accepts('listQuarantinedTests', { ...tests, page_query: { page_size } }),
    );
    expect(sizes).toEqual([1, 100]);
  });
});

describe('impacted targets', () => {
  const targets = (impactedTargets: unknown) => ({ ...queue, pr, impactedTargets });

  it.each([
    ['ALL', 'ALL'],
    ['all', 'ALL'],
    [[], []],
    [
      ['//a:b', '//c'],
      ['//a:b', '//c'],
    ],
    [['x'.repeat(1024)], ['x'.repeat(1024)]],
  ])('may be %j', (sent, value) => {
    expect(parse('setImpactedTargets', targets(sent)).data).toMatchObject({ impactedTargets: value });
  });

  it.each(['SOME', '', null, 7, true, {}, undefined])('may not be %j', (sent) => {
    expect(pathsOf('setImpactedTargets', targets(sent))).toEqual(['impactedTargets']);
  });

  it('are required', () => {
    expect(pathsOf('setImpactedTargets', { ...queue, pr })).toEqual(['impactedTargets']);
  });

  it('report each problem, and no more than a hundred', () => {
    const wrong = ['ok', '', 7, null, ['x'], 'x'.repeat(1025)];
    expect(pathsOf('setImpactedTargets', targets(wrong))).toEqual(
      [1, 2, 3, 4, 5].map((index) => `impactedTargets.${index}`),
    );
    expect(pathsOf('setImpactedTargets', targets(Array.from({ length: 5000 }, () => 7)))).toHaveLength(100);
  });

  it('may be 200,000 and are read in well under a second', { retry: 2 }, () => {
    const many = Array.from(
      { length: 200_000 },
      (_, index) => `//some/package/of/the/repository:target_${index}`,
    );
    const startedAt = performance.now();
    expect(accepts('setImpactedTargets', targets(many))).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  it.each([
    ['a'.repeat(40), true],
    ['A'.repeat(64), true],
    ['a'.repeat(39), false],
    ['g'.repeat(40), false],
    ['HEAD', false],
  ])('of the commit %s are taken: %s', (sha, verdict) => {
    expect(accepts('setImpactedTargets', { ...targets('ALL'), pr: { ...pr, sha } })).toBe(verdict);
  });
});

type Schema = Record<string, unknown>;
type OperationObject = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content: Record<string, unknown> }
  >;
};
type Document = {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Record<string, Record<string, OperationObject>>;
  readonly components: unknown;
};

const document = openApiDocument({
  publicUrl: 'https://queue.test',
  version: '1.2.3',
}) as unknown as Document;
const operations = Object.entries(endpoints) as readonly (readonly [Operation, Endpoint])[];
const published = [...operations, ['exchangeCiToken', exchangeCiToken]] as readonly [string, Endpoint][];
const documented = ({ path, method }: Endpoint) => document.paths[path]?.[method.toLowerCase()];

describe('the published document', () => {
  it('has every endpoint and nothing else', () => {
    const found = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
    );
    expect(found).toEqual(published.map(([name, { method, path }]) => [name, method, path]));
  });

  it('has operation ids that are unique, known tags, and says where it is', () => {
    const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
    const tags = new Set(document.tags.map(({ name }) => name));
    expect(all.flatMap((operation) => operation.tags).filter((tag) => !tags.has(tag))).toEqual([]);
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.2.3' },
      servers: [{ url: 'https://queue.test' }],
      security: [{ apiToken: [] }],
    });
  });

  it.each(operations)('lists the errors of %s by status, and its scopes', (_name, endpoint) => {
    const operation = documented(endpoint)!;
    const codes = [...commonErrors, ...endpoint.errors];
    const documentedCodes = codes.filter((code) =>
      operation.responses[errorRegistry[code].status]?.description.includes(`\`${code}\``),
    );
    expect(documentedCodes).toEqual(codes);
    const statuses = new Set(codes.map((code) => String(errorRegistry[code].status)));
    expect(Object.keys(operation.responses).toSorted()).toEqual(['200', ...statuses].toSorted());
    expect(operation.description).toContain(endpoint.scopes.join(' or '));
  });

  it('lists every code of the registry except those of URLs outside of it', () => {
    const documentedCodes = new Set([...commonErrors, ...published.flatMap(([, { errors }]) => errors)]);
    const missing = Object.keys(errorRegistry).filter((code) => !documentedCodes.has(code as ErrorCode));
    const ofUploads = ['UPLOAD_ADDRESS_EXPIRED', 'UPLOAD_ADDRESS_INVALID', 'UPLOAD_ALREADY_STORED'];
    const others = ['CROSS_SITE_REFUSED', 'ROUTE_NOT_FOUND'];
    expect(missing.toSorted()).toEqual([...others, ...ofUploads]);
  });

  it('is open to more fields, except when it is asked to be strict', () => {
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
    const strict = openApiDocument({ publicUrl: 'https://queue.test', version: '1', strict: true });
    expect(JSON.stringify(strict)).toContain('"additionalProperties":false');
  });

  it('shows the metrics as the text that Prometheus reads', () => {
    const content = documented(endpoints.getMergeQueueMetrics)?.responses['200']?.content;
    expect(Object.keys(content ?? {})).toEqual(['text/plain; version=0.0.4; charset=utf-8']);
  });
});

// What contract.md says a call can be refused with, beyond what every call can.
const inQueue = ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'] as const;
const refusals: Partial<Record<Operation, readonly ErrorCode[]>> = {
  submitPullRequest: [...inQueue, 'PULL_REQUEST_NOT_FOUND', 'PULL_REQUEST_NOT_ENQUEUEABLE', 'HOST_ERROR'],
  cancelPullRequest: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED', 'PULL_REQUEST_NOT_IN_QUEUE'],
  restartTestsOnPullRequest: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED', 'TESTS_NOT_RESTARTABLE'],
  getSubmittedPullRequest: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED'],
  getSubmittedPullRequests: inQueue,
  listPullRequests: [...inQueue, 'INVALID_PAGE_TOKEN'],
  setImpactedTargets: [...inQueue, 'PULL_REQUEST_NOT_FOUND', 'HOST_ERROR'],
  getMergeQueueTestingDetails: [...inQueue, 'PULL_REQUEST_NOT_SUBMITTED', 'TEST_RUN_NOT_FOUND'],
  listMergeQueueTestingResults: inQueue,
  createQueue: ['REPOSITORY_NOT_FOUND', 'QUEUE_ALREADY_EXISTS'],
  updateQueue: [...inQueue, 'MODE_CHANGE_IN_PROGRESS'],
  deleteQueue: [...inQueue, 'QUEUE_NOT_EMPTY'],
  getQueue: inQueue,
  listQueues: ['INVALID_PAGE_TOKEN'],
  getMergeQueueMetrics: inQueue,
  listUnhealthyTests: ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND', 'INVALID_PAGE_TOKEN'],
  getTestDetails: ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND', 'TEST_CASE_NOT_FOUND'],
};

it.each(Object.entries(refusals))('%s can be refused as the contract says', (operation, codes) => {
  const { errors }: Endpoint = endpoints[operation as Operation];
  expect(codes.filter((code) => !errors.includes(code))).toEqual([]);
});

const ajv = new Ajv2020({ strict: false, allErrors: true });
// ajv-formats is CommonJS: its function is the default of the default under Node's interop.
const interop = formats.default as unknown as { readonly default?: (ajv: Ajv2020) => void };
(interop.default ?? (interop as (ajv: Ajv2020) => void))(ajv);

function documentAccepts(operation: Operation, body: unknown): boolean {
  const schema = documented(endpoints[operation])?.requestBody?.content['application/json']?.schema;
  // The components ride along, so that their references resolve.
  return ajv.validate({ ...schema, components: document.components }, body);
}

const verdicts = (operation: Operation, body: unknown) => ({
  document: documentAccepts(operation, body),
  validator: accepts(operation, body),
});

const span = (start_time: string, end_time: string) => ({ ...tests, start_time, end_time });
const submit = (change: object) => ({ ...queue, pr, ...change });
const targeted = (impactedTargets: unknown, sha?: string) => ({
  ...queue,
  pr: { ...pr, sha },
  impactedTargets,
});
const [march1, march2] = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00.5+01:00'];
const testId = 'aad1f138-09ab-5ea9-9c21-af48a03d6edd';

describe('the document and the validator', () => {
  const numbers = [1, 4_294_967_295, '7', '4294967295'].map((number) => submit({ pr: { number } }));
  const priorities = ['urgent', 'high', 'medium', 'low', 0, 10, 255].map((priority) => submit({ priority }));
  // prettier-ignore
  const good: readonly (readonly [Operation, ...unknown[]])[] = [
    ['submitPullRequest', ...numbers, ...priorities, submit({ noBatch: true }), submit({ unknown: 1 })],
    ['setImpactedTargets', ...['ALL', [], ['//a'], ['a', 'a']].map((list) => targeted(list, 'a'.repeat(40)))],
    ['createQueue', queue, { ...queue, ...defaultSettings, requiredStatuses: ['build'] }],
    ['updateQueue', { ...queue, state: 'PAUSED', deleteRequiredStatuses: true, requiredStatuses: null }],
    ['getQueue', { ...queue, repo: { ...repo, owner: 'a/b/c' } }, { ...queue, targetBranch: 'release/1.x' }],
    ['listPullRequests', { ...queue, state: 'merged', since: march1, until: march2, take: 100, cursor: 'x' }],
    ['getSubmittedPullRequests', { ...queue, prs: [pr, { number: '8' }] }],
    ['listUnhealthyTests', { ...tests, status: 'FLAKY' },
      { ...tests, status: 'BROKEN', page_query: { page_size: 1 } }],
    ['getTestDetails', { repo, org_url_slug: 'acme', test_id: testId }],
    ['listFailingTests', span(march1, march2)],
    ['getOrganization', {}],
  ];
  it.each(good.flatMap(([operation, ...bodies]) => bodies.map((body) => [operation, body] as const)))(
    'both accept as %s %j',
    (operation, body) => {
      expect(verdicts(operation, body)).toEqual({ document: true, validator: true });
    },
  );

  const unnumbered = [0, -1, 1.5, 4_294_967_296, '', 'x', null].map((number) => submit({ pr: { number } }));
  const noPriorities = ['highest', -1, 256, 0.5, null, true].map((priority) => submit({ priority }));
  // prettier-ignore
  const bad: readonly (readonly [Operation, ...unknown[]])[] = [
    ['submitPullRequest', {}, [], null, queue, { ...queue, pr: {} }, ...unnumbered, ...noPriorities],
    ['submitPullRequest', submit({ noBatch: 'yes' }), submit({ targetBranch: '' }), submit({ repo: 'acme/widgets' })],
    ['setImpactedTargets', ...['SOME', [''], [7], null, ['x'.repeat(1025)], undefined].map((list) => targeted(list))],
    ['setImpactedTargets', targeted('ALL', 'HEAD'), targeted('ALL', 'a'.repeat(41))],
    ['updateQueue', { ...queue, state: 'SWITCHING_MODES' }, { ...queue, mode: 'double' }, { ...queue, batch: 1 }],
    ['updateQueue', ...Object.entries(bounds).map(([name, [, max]]) => ({ ...queue, [name]: max + 1 }))],
    ['createQueue', ...Object.entries(bounds).map(([name, [min]]) => ({ ...queue, [name]: min - 1 }))],
    ['createQueue', { ...queue, enqueueingLabel: '' }, { ...queue, requiredStatuses: [''] }],
    ['getQueue', ...['a/b', 'a b', '', 'me@host'].map((host) => ({ ...queue, repo: { ...repo, host } }))],
    ['getSubmittedPullRequests', { ...queue, prs: [] }, { ...queue, prs: Array.from({ length: 51 }, () => pr) }],
    ['listPullRequests', { ...queue, since: '2026-03-01' }, { ...queue, since: '2026-02-30T00:00:00Z' }],
    ['listPullRequests', { ...queue, since: '2026-03-01T00:00:00' }, { ...queue, take: 0 }, { ...queue, take: 101 }],
    ['listUnhealthyTests', tests, { repo, org_url_slug: 'acme', status: 'FLAKY' }, { ...tests, status: 'HEALTHY' }],
    ['getTestDetails', { repo, org_url_slug: 'acme', test_id: 'x' }, { repo, org_url_slug: '', test_id: testId }],
  ];
  it.each(bad.flatMap(([operation, ...bodies]) => bodies.map((body) => [operation, body] as const)))(
    'both refuse as %s %j',
    (operation, body) => {
      expect(verdicts(operation, body)).toEqual({ document: false, validator: false });
    },
  );

  it.each([
    ['submitPullRequest', submit({ priority: 'URGENT' })],
    ['submitPullRequest', submit({ priority: '42' })],
    ['setImpactedTargets', targeted('all')],
    ['updateQueue', { ...queue, mode: 'Parallel', state: 'paused' }],
  ] as const)('differ where the validator is lenient by contract, and only so: %s %j', (operation, body) => {
    expect(verdicts(operation, body)).toEqual({ document: false, validator: true });
  });

  it('differ where a rule is over two fields, which the document describes as text', () => {
    expect(verdicts('listFailingTests', span(march2, march1))).toEqual({ document: true, validator: false });
  });

  it.each([
    ['submitPullRequest', submit({ pr: { number: '0' } })],
    ['submitPullRequest', submit({ pr: { number: '4294967296' } })],
    ['getQueue', { ...queue, targetBranch: 'a..b' }],
    ['getQueue', { ...queue, repo: { ...repo, owner: '/acme' } }],
    ['setImpactedTargets', targeted('ALL', 'A'.repeat(40))],
    ['setImpactedTargets', targeted(['🚦'.repeat(1000)])],
  ] as const)('agree on %s %j', (operation, body) => {
    const { document: published, validator } = verdicts(operation, body);
    expect(published).toBe(validator);
  });
});
