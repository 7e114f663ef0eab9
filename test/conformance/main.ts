/**
 * Black-box conformance suite: `npm run conformance -- --base-url URL --token T`.
 * It speaks only HTTP and imports nothing of the server, so it can be pointed at any deployment.
 */
import { createRecorder, type Failure, type Recorder } from './check.ts';
import { createClient, show } from './client.ts';
import { pick } from './json.ts';
import { createContractDocument } from './openapi.ts';
import { USAGE, parseOptions, type Options } from './options.ts';
import { checkAuthentication, checkScopes } from './section-authentication.ts';
import { checkBodyLimit } from './section-body-limit.ts';
import {
  checkEmptyHeaders,
  checkJsonBodies,
  checkMediaTypes,
  checkPublicPaths,
  checkRequestIds,
  checkRoutes,
} from './section-common.ts';
import { checkHostEvents } from './section-host-event.ts';
import { checkLandingQuestions, checkMerge, checkVerdicts } from './section-landing.ts';
import { checkListBounds, checkLists } from './section-list.ts';
import { checkMetrics, checkMetricsParameters } from './section-metrics.ts';
import { checkPages } from './section-page.ts';
import { checkPriorities } from './section-priority.ts';
import {
  checkAdmission,
  checkPullRequestLife,
  checkUnknownPullRequests,
  checkWaitingStates,
} from './section-pull-request.ts';
import { checkQueueList } from './section-queue-list.ts';
import { checkQueueSettings } from './section-queue-setting.ts';
import {
  checkQueueEntries,
  checkQueueLife,
  checkQueueOrder,
  checkQueueStates,
  checkQueueUpdates,
} from './section-queue.ts';
import { checkRateLimit } from './section-rate-limit.ts';
import { checkTargetReadiness, checkTargetShapes } from './section-target.ts';
import { checkTenancy } from './section-tenancy.ts';
import { checkTestHealth } from './section-test-health.ts';
import { checkVerdictsOfTests } from './section-ingest.ts';
import { checkBundles, checkReports } from './section-upload.ts';
import { checkTestingDetails, checkUnderTest } from './section-testing.ts';
import {
  checkPullRequestNumbers,
  checkRepositoryNames,
  checkRequiredFields,
  checkUnknownKeys,
} from './section-validation.ts';
import { cleanUp, createRunName, type World } from './world.ts';

/** In this order: the rate limit spends what the others need. */
const SECTIONS: readonly (readonly [string, (world: World) => Promise<void>])[] = [
  ['common: public paths', checkPublicPaths],
  ['common: authentication', checkAuthentication],
  ['common: scopes', checkScopes],
  ['common: routes and methods', checkRoutes],
  ['common: media types', checkMediaTypes],
  ['common: JSON bodies', checkJsonBodies],
  ['common: body limit', checkBodyLimit],
  ['common: request ids', checkRequestIds],
  ['common: empty headers', checkEmptyHeaders],
  ['common: required fields', checkRequiredFields],
  ['common: pull request numbers', checkPullRequestNumbers],
  ['common: unknown keys', checkUnknownKeys],
  ['common: repository names', checkRepositoryNames],
  ['queues: life', checkQueueLife],
  ['queues: updates', checkQueueUpdates],
  ['queues: states', checkQueueStates],
  ['queues: settings', checkQueueSettings],
  ['queues: entries', checkQueueEntries],
  ['queues: order', checkQueueOrder],
  ['queues: list', checkQueueList],
  ['pull requests: unknown', checkUnknownPullRequests],
  ['pull requests: life', checkPullRequestLife],
  ['pull requests: priorities', checkPriorities],
  ['pull requests: admission', checkAdmission],
  ['pull requests: waiting states', checkWaitingStates],
  ['pull requests: host events', checkHostEvents],
  ['targets: shapes', checkTargetShapes],
  ['targets: readiness', checkTargetReadiness],
  ['testing: details', checkTestingDetails],
  ['testing: under test', checkUnderTest],
  ['landing: questions', checkLandingQuestions],
  ['landing: only submitted', checkMerge],
  ['landing: verdicts', checkVerdicts],
  ['lists: bounds', checkListBounds],
  ['lists: pull requests', checkLists],
  ['metrics: parameters', checkMetricsParameters],
  ['metrics: exposition', checkMetrics],
  ['test health: test cases', checkTestHealth],
  ['test health: pages', checkPages],
  ['uploads: bundles', checkBundles],
  ['uploads: reports', checkReports],
  ['uploads: from report to verdict', checkVerdictsOfTests],
  ['tenancy', checkTenancy],
  ['rate limit', checkRateLimit],
];

function printFailure({ section, name, detail }: Failure): void {
  console.log(`FAILED [${section}] ${name}\n       ${detail}`);
}

async function run(options: Options): Promise<number> {
  const recorder = createRecorder(options.json ? () => undefined : printFailure);
  try {
    const world = await openWorld(recorder, options);
    if (world) await runSections(world);
  } catch (error) {
    recorder.check('the deployment answers', false, explain(error));
  }
  return report(recorder, options);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `; cause: ${error.cause.message}` : '';
  return `${error.stack ?? error.message}${cause}`;
}

/** Learns what the sections need to know of the deployment; undefined when it cannot be worked with. */
async function openWorld(recorder: Recorder, options: Options): Promise<World | undefined> {
  const client = createClient(options.root, options.token, recorder);
  const published = await client.send('/openapi.json', { method: 'GET', token: null });
  if (published.json !== undefined && published.status === 200)
    client.contract = createContractDocument(published.json);
  recorder.check('/openapi.json is served', client.contract !== undefined, `got ${published.status}`);
  const organization = await client.send('/v1/getOrganization', { body: {} });
  const slug = pick(organization.json, 'organization', 'slug');
  const isKnown = recorder.check(
    'getOrganization tells the slug',
    typeof slug === 'string',
    organization.text,
  );
  if (!isKnown) return undefined;
  const run = createRunName();
  const repo = { host: 'sandbox.example', owner: 'conformance', name: `conformance-${run}-probe` };
  const probe = await client.send('/sandbox/v1/getPullRequest', { body: { repo, pr: { number: 1 } } });
  const isAbsent = pick(probe.json, 'error', 'code') === 'ROUTE_NOT_FOUND';
  const detail = `expected 200, or 404 ROUTE_NOT_FOUND where there is none; got ${show(probe)}`;
  recorder.check('the sandbox answers or is absent', isAbsent || probe.status === 200, detail);
  return { client, recorder, options, slug: String(slug), hasSandbox: !isAbsent, run, queues: [] };
}

async function runSections(world: World): Promise<void> {
  const { options, recorder } = world;
  for (const [name, check] of SECTIONS) {
    if (options.only !== undefined && !name.includes(options.only)) continue;
    recorder.startSection(name);
    try {
      await check(world);
    } catch (error) {
      recorder.check('the section runs to its end', false, explain(error));
    }
  }
  recorder.startSection('clean up');
  await cleanUp(world);
}

function report(recorder: Recorder, options: Options): number {
  const totals = [...recorder.totals.values()];
  const passed = totals.reduce((sum, total) => sum + total.passed, 0);
  const failed = totals.reduce((sum, total) => sum + total.failed, 0);
  const skipped = totals.reduce((sum, total) => sum + total.skipped, 0);
  if (options.json) {
    const { failures, skips } = recorder;
    console.log(JSON.stringify({ passed, failed, skipped, failures, skips }));
    return failed > 0 ? 1 : 0;
  }
  for (const { section, name, reason } of recorder.skips)
    console.log(`skipped [${section}] ${name}: ${reason}`);
  console.log('');
  for (const [name, total] of recorder.totals)
    console.log(
      `${name.padEnd(34)} ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`,
    );
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 ? 1 : 0;
}

const parsed = parseOptions(process.argv.slice(2));
if (typeof parsed === 'string') {
  console.error(`${parsed}\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  process.exitCode = await run(parsed);
}
