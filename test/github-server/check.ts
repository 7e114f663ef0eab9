// What CI says of commits: statuses, and check runs in their suites. GitHub makes a suite for every App that may write
// checks on each push, and asks that App for its runs.

import { findCommit } from './known.ts';
import { invalid } from './answer.ts';
import { accountOf, viaOf } from './auth.ts';
import { checkRunPayload, checkSuitePayload, statusPayload } from './json/check.ts';
import type { Account, App, CheckRun, CheckSuite, Principal, Repository, Site, Status } from './model.ts';

async function requireCommit(repository: Repository, sha: string): Promise<void> {
  if (!/^[0-9a-f]{40}$/.test(sha) || (await findCommit(repository.directory, sha)) === null)
    throw invalid({ resource: 'Commit', field: 'sha', message: `No commit found for SHA: ${sha}` });
}

type NewStatus = Pick<Status, 'context' | 'state' | 'description' | 'targetUrl'>;

export async function addStatus(
  site: Site,
  repository: Repository,
  sha: string,
  status: NewStatus,
  principal: Principal,
): Promise<Status> {
  await requireCommit(repository, sha);
  const creator = accountOf(principal);
  const via = viaOf(principal) ?? site.apps.find(({ bot }) => bot === creator) ?? null;
  const added: Status = { ...status, id: site.nextId(), sha, creator, via, at: site.clock.now() };
  repository.statuses.push(added);
  site.announce(repository, 'status', null, creator, await statusPayload(site, repository, added));
  return added;
}

const runsOf = ({ runs }: Repository, suite: CheckSuite): readonly CheckRun[] =>
  [...runs.values()].filter((run) => run.suite === suite);

type Pushed = { readonly branch: string; readonly before: string | null; readonly sha: string };

function suiteFor(
  site: Site,
  repository: Repository,
  app: App,
  pushed: Pushed | { sha: string },
): CheckSuite {
  const { sha } = pushed;
  const known = repository.suites.find((suite) => suite.app === app && suite.sha === sha);
  if (known !== undefined) return known;
  const now = site.clock.now();
  const branch = 'branch' in pushed ? pushed.branch : headBranch(repository, sha);
  const before = 'before' in pushed ? pushed.before : null;
  const suite = {
    id: site.nextId(),
    app,
    sha,
    branch,
    before,
    createdAt: now,
    updatedAt: now,
    attempt: 1,
    attemptAt: now,
  };
  repository.suites.push(suite);
  return suite;
}

/**
 * Begins another attempt of jobs of a workflow run: each has a new check run, with another id and the same name, head and suite,
 * which is queued. The listing with `filter=latest` has only the new one.
 */
export async function rerunJobs(
  site: Site,
  repository: Repository,
  suite: CheckSuite,
  names: readonly string[],
): Promise<void> {
  const now = site.clock.now();
  suite.attempt += 1;
  suite.attemptAt = now;
  for (const name of names) await addRun(site, repository, suite.app, suite.sha, { name, startedAt: now });
}

const headBranch = ({ pulls }: Repository, sha: string): string | null =>
  [...pulls.values()].find(({ headSha }) => headSha === sha)?.headRef ?? null;

/** After a push. */
export async function requestSuite(site: Site, repository: Repository, pushed: Pushed): Promise<void> {
  const isInstalled = site.installations.some(({ account }) => account === repository.owner);
  if (!isInstalled || site.app.permissions['checks'] !== 'write') return;
  if (repository.suites.some(({ app, sha }) => app === site.app && sha === pushed.sha)) return;
  const suite = suiteFor(site, repository, site.app, pushed);
  const payload = { check_suite: await checkSuitePayload(site, repository, suite) };
  site.announce(repository, 'check_suite', 'requested', site.app.bot, payload);
}

export type RunChange = Partial<
  Pick<
    CheckRun,
    | 'name'
    | 'status'
    | 'conclusion'
    | 'detailsUrl'
    | 'externalId'
    | 'actions'
    | 'startedAt'
    | 'completedAt'
    | 'output'
  >
>;

export async function addRun(
  site: Site,
  repository: Repository,
  app: App,
  sha: string,
  change: RunChange & { readonly name: string },
): Promise<CheckRun> {
  await requireCommit(repository, sha);
  const run: CheckRun = {
    id: site.nextId(),
    suite: suiteFor(site, repository, app, { sha }),
    name: change.name,
    status: 'queued',
    conclusion: null,
    detailsUrl: null,
    externalId: '',
    actions: [],
    startedAt: null,
    completedAt: null,
    output: { title: null, summary: null, text: null },
  };
  repository.runs.set(run.id, run);
  apply(site, run, change);
  await tell(site, repository, run, 'created');
  if (run.status === 'completed') await tellCompleted(site, repository, run);
  return run;
}

export async function changeRun(
  site: Site,
  repository: Repository,
  run: CheckRun,
  change: RunChange,
): Promise<void> {
  const wasCompleted = run.status === 'completed';
  apply(site, run, change);
  if (run.status === 'completed' && !wasCompleted) await tellCompleted(site, repository, run);
}

/** A conclusion completes a run, and a completed run stays so. */
function apply(site: Site, run: CheckRun, change: RunChange): void {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  if (run.status === 'completed') delete given['status'];
  Object.assign(run, given);
  const now = site.clock.now();
  if (typeof given['conclusion'] === 'string') run.status = 'completed';
  if (run.status !== 'queued') run.startedAt ??= now;
  if (run.status === 'completed') run.completedAt ??= now;
  run.suite.updatedAt = now;
}

async function tell(site: Site, repository: Repository, run: CheckRun, action: string): Promise<void> {
  const payload = { check_run: await checkRunPayload(site, repository, run) };
  site.announce(repository, 'check_run', action, run.suite.app.bot, payload);
}

/**
 * A person clicks a button of a check run. GitHub sends the event only to the App that made the run (GitHub webhook docs, `check_run`), and
 * not when the click was.
 */
export async function clickAction(
  site: Site,
  repository: Repository,
  run: CheckRun,
  identifier: string,
  sender: Account,
): Promise<void> {
  if (!run.actions.some((action) => action.identifier === identifier))
    throw new Error(`The check run ${run.name} has no action ${identifier}.`);
  if (run.suite.app !== site.app) return;
  const payload = {
    check_run: await checkRunPayload(site, repository, run),
    requested_action: { identifier },
  };
  site.announce(repository, 'check_run', 'requested_action', sender, payload);
}

async function tellCompleted(site: Site, repository: Repository, run: CheckRun): Promise<void> {
  await tell(site, repository, run, 'completed');
  if (runsOf(repository, run.suite).some(({ status }) => status !== 'completed')) return;
  const payload = { check_suite: await checkSuitePayload(site, repository, run.suite) };
  site.announce(repository, 'check_suite', 'completed', run.suite.app.bot, payload);
}
