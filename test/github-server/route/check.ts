// Statuses, check runs and check suites of commits.

import { findCommit } from '../known.ts';
import { created, notFound, ok, Refusal, refused } from '../answer.ts';
import { addRun, addStatus, changeRun, type RunChange } from '../check.ts';
import { checkRunJson, checkSuiteJson, combinedStatusJson, statusJson } from '../json/check.ts';
import type { App, CheckRun, Status } from '../model.ts';
import { latestRuns } from '../required-check.ts';
import {
  fieldsOf,
  listed,
  numberOf,
  pageOf,
  read,
  type RepositoryCall,
  repositoryRoute,
  type Route,
  write,
} from '../route.ts';

const root = '/repos/{owner}/{repo}';

/** A sha, a branch or a tag. */
export async function commitOf({ repository, params }: RepositoryCall): Promise<string> {
  const ref = params['ref']!;
  const { directory } = repository;
  const found =
    (await findCommit(directory, `refs/heads/${ref.replace(/^(refs\/)?heads\//, '')}`)) ??
    (await findCommit(directory, `refs/tags/${ref.replace(/^(refs\/)?tags\//, '')}`)) ??
    (/^[0-9a-f]{7,40}$/.test(ref) ? await findCommit(directory, ref) : null);
  if (found === null) throw new Refusal(refused(422, `No commit found for SHA: ${ref}`));
  return found;
}

const statusRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/commits/{ref}/status`, read('statuses'), async (call) => {
    const whole = combinedStatusJson(call.site, call.repository, await commitOf(call));
    const { items, headers } = pageOf(call, whole.statuses);
    return { ...ok({ ...whole, statuses: items }), headers };
  }),
  repositoryRoute(`GET ${root}/commits/{ref}/statuses`, read('statuses'), async (call) => {
    const sha = await commitOf(call);
    const all = call.repository.statuses.filter((status) => status.sha === sha).toReversed();
    return listed(call, all, (status) => statusJson(call.site, call.repository, status));
  }),
  repositoryRoute(`POST ${root}/statuses/{sha}`, write('statuses'), async (call) => {
    const wish = fieldsOf(call) as {
      readonly state: Status['state'];
      readonly context?: string;
      readonly description?: string | null;
      readonly target_url?: string | null;
    };
    const status = await addStatus(
      call.site,
      call.repository,
      call.params['sha']!,
      {
        state: wish.state,
        context: wish.context ?? 'default',
        description: wish.description ?? null,
        targetUrl: wish.target_url ?? null,
      },
      call.principal,
    );
    return created(statusJson(call.site, call.repository, status));
  }),
];

function ownApp({ principal }: RepositoryCall): App {
  if (principal.kind !== 'installation')
    throw new Refusal(refused(403, 'You must authenticate via a GitHub App.'));
  return principal.installation.app;
}

function runOf(call: RepositoryCall): CheckRun {
  const run = call.repository.runs.get(numberOf(call, 'check_run_id'));
  if (run === undefined) throw notFound();
  return run;
}

function changeOf(call: RepositoryCall): RunChange {
  const wish = fieldsOf(call) as {
    readonly name?: string;
    readonly status?: CheckRun['status'];
    readonly conclusion?: string;
    readonly details_url?: string;
    readonly external_id?: string;
    readonly started_at?: string;
    readonly completed_at?: string;
    readonly output?: { readonly title?: string; readonly summary?: string; readonly text?: string };
    readonly actions?: CheckRun['actions'];
  };
  const output =
    wish.output === undefined
      ? undefined
      : {
          title: wish.output.title ?? null,
          summary: wish.output.summary ?? null,
          text: wish.output.text ?? null,
        };
  const change = {
    name: wish.name,
    status: wish.status,
    conclusion: wish.conclusion,
    detailsUrl: wish.details_url,
    externalId: wish.external_id,
    actions: wish.actions,
    startedAt: wish.started_at === undefined ? undefined : new Date(wish.started_at),
    completedAt: wish.completed_at === undefined ? undefined : new Date(wish.completed_at),
    output,
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

const runRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}/commits/{ref}/check-runs`, read('checks'), async (call) => {
    const { site, repository, query } = call;
    const sha = await commitOf(call);
    const fits = (name: string, value: string | number) =>
      !query.has(name) || query.get(name) === String(value);
    const runs =
      query.get('filter') === 'all'
        ? [...repository.runs.values()].filter(({ suite }) => suite.sha === sha)
        : latestRuns(repository, sha);
    const all = runs.filter(
      ({ name, status, suite }) =>
        fits('check_name', name) && fits('status', status) && fits('app_id', suite.app.id),
    );
    const { items, headers } = pageOf(call, all);
    const check_runs = items.map((run) => checkRunJson(site, repository, run));
    return { ...ok({ total_count: all.length, check_runs }), headers };
  }),
  repositoryRoute(`GET ${root}/commits/{ref}/check-suites`, read('checks'), async (call) => {
    const { site, repository, query } = call;
    const sha = await commitOf(call);
    const all = repository.suites.filter(
      (suite) => suite.sha === sha && (!query.has('app_id') || query.get('app_id') === String(suite.app.id)),
    );
    const { items, headers } = pageOf(call, all);
    const check_suites = await Promise.all(items.map((suite) => checkSuiteJson(site, repository, suite)));
    return { ...ok({ total_count: all.length, check_suites }), headers };
  }),
  repositoryRoute(`POST ${root}/check-runs`, write('checks'), async (call) => {
    const { name, head_sha } = fieldsOf(call) as { readonly name: string; readonly head_sha: string };
    const change = { ...changeOf(call), name };
    const run = await addRun(call.site, call.repository, ownApp(call), head_sha, change);
    return created(checkRunJson(call.site, call.repository, run));
  }),
  repositoryRoute(`GET ${root}/check-runs/{check_run_id}`, read('checks'), (call) =>
    ok(checkRunJson(call.site, call.repository, runOf(call))),
  ),
  repositoryRoute(`PATCH ${root}/check-runs/{check_run_id}`, write('checks'), async (call) => {
    const run = runOf(call);
    const app = ownApp(call);
    if (run.suite.app !== app)
      return refused(
        403,
        `Invalid app_id \`${app.id}\` - check run can only be modified by the GitHub App that created it.`,
      );
    await changeRun(call.site, call.repository, run, changeOf(call));
    return ok(checkRunJson(call.site, call.repository, run));
  }),
];

export const checkRoutes: readonly Route[] = [...statusRoutes, ...runRoutes];
