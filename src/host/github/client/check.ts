// The checks of a commit, in both forms that GitHub has, and Signalbox's own check on a head: a check run for
// an App, a commit status for an account.

import type { TtlCache } from '#base/ttl-cache.ts';
import type { Check } from '#core/queue/check.ts';
import { type HostRepository, type OwnCheck, toStatusState } from '../../host.ts';
import { type GithubClient, together } from './client.ts';
import { Anything, CheckRun, CheckRuns, CombinedStatus, type Status } from '../schema.ts';

const instant = (text: string | null | undefined): number => {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? 0 : at;
};

const runStates = { in_progress: 'in_progress', completed: 'completed' } as const;

/** `waiting`, `requested` and `pending` are states of GitHub's own CI before it begins. */
const runState = (status: string): 'queued' | 'in_progress' | 'completed' =>
  runStates[status as keyof typeof runStates] ?? 'queued';

export function checkOfRun(run: CheckRun): Check {
  const status = runState(run.status);
  return {
    kind: 'check',
    // A check run without a suite is a suite of its own.
    suite: String(run.check_suite?.id ?? `run-${run.id}`),
    name: run.name,
    status,
    conclusion: status === 'completed' ? run.conclusion : null,
    url: run.details_url ?? run.html_url ?? '',
    at: Math.max(instant(run.started_at), instant(run.completed_at)),
    ...(run.app && { app: String(run.app.id) }),
  };
}

export const checkOfStatus = ({ context, state, target_url, updated_at, creator }: Status): Check => ({
  kind: 'status',
  name: context,
  state,
  url: target_url ?? '',
  at: instant(updated_at),
  ...(creator && { creator: creator.login }),
});

/** GitHub knows no commit by this name. */
const absent = [404, 422];

async function collect<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...itemsOf(page));
  return all;
}

export async function readChecks(
  client: GithubClient,
  { owner, name: repo }: Pick<HostRepository, 'owner' | 'name'>,
  ref: string,
): Promise<readonly Check[]> {
  const where = { owner, repo, ref };
  const at = '/repos/{owner}/{repo}/commits/{ref}';
  const [runs, statuses] = await together(
    collect(
      client.readPages(`${at}/check-runs`, { ...where, filter: 'latest' }, CheckRuns, { absent }),
      (page) => page.check_runs,
    ),
    collect(client.readPages(`${at}/status`, where, CombinedStatus, { absent }), (page) => page.statuses),
  );
  return [...runs.map(checkOfRun), ...statuses.map(checkOfStatus)];
}

type OwnRun = {
  readonly id: number;
  /** The id in GraphQL. */
  readonly nodeId?: string | undefined;
  readonly isCompleted: boolean;
};

export type OwnRuns = TtlCache<OwnRun>;

/** The most characters that GitHub accepts. */
const summaryMax = 65_000;
const descriptionMax = 140;

export async function writeCheck(
  client: GithubClient,
  ownRuns: OwnRuns,
  repository: HostRepository,
  sha: string,
  check: OwnCheck,
): Promise<void> {
  const { owner, name: repo } = repository;
  if (client.auth.appId === null) {
    await client.write(
      'POST /repos/{owner}/{repo}/statuses/{sha}',
      {
        owner,
        repo,
        sha,
        context: check.name,
        state: toStatusState(check),
        description: check.title.slice(0, descriptionMax),
        ...urlField('target_url', check),
      },
      Anything,
      { isRepeatable: true },
    );
    return;
  }
  const key = runKey(repository, sha, check.name);
  const known =
    ownRuns.get(key) ??
    (check.mayExist !== false ? await findOwnRun(client, repository, sha, check.name) : null);
  const updated = known === null ? null : await updateRun(client, repository, known, check);
  ownRuns.set(key, updated ?? (await createRun(client, repository, sha, check)));
}

/** GitHub accepts only http and https URLs; without one it links to its own page. */
const urlField = (key: string, { url }: OwnCheck): Record<string, string> =>
  /^https?:\/\//.test(url) ? { [key]: url } : {};

export const runKey = ({ id }: HostRepository, sha: string, name: string): string => `${id} ${sha} ${name}`;

type RunBody = {
  readonly name: string;
  readonly details_url?: string;
  readonly status: string;
  readonly conclusion?: string;
  readonly output: { readonly title: string; readonly summary: string };
  readonly external_id: string;
  readonly actions: readonly RunAction[];
};

/** GitHub REST docs, "Create a check run": at most 20, 40 and 20 characters. */
type RunAction = { readonly label: string; readonly description: string; readonly identifier: string };

/** In `external_id`: a webhook about a check run of a fork names no pull request. */
const formatExternalId = ({ number }: Pick<OwnCheck, 'number'>): string => `pull/${number}`;

/** Null: not one of ours. */
export function parseExternalId(id: string): number | null {
  const [, number] = /^pull\/([1-9]\d{0,9})$/.exec(id) ?? [];
  return number === undefined ? null : Number(number);
}

export const runBody = (check: OwnCheck): RunBody => ({
  name: check.name,
  ...urlField('details_url', check),
  ...(check.state === 'pending'
    ? { status: 'in_progress' }
    : { status: 'completed', conclusion: check.state }),
  output: { title: check.title, summary: check.summary.slice(0, summaryMax) },
  external_id: formatExternalId(check),
  // An empty list removes those of the state before.
  actions: check.actions.map(({ id, label, description }) => ({ label, description, identifier: id })),
});

const ownRun = ({ id, node_id: nodeId, status }: CheckRun): OwnRun => ({
  id,
  nodeId,
  isCompleted: status === 'completed',
});

async function findOwnRun(
  { read, auth }: GithubClient,
  { owner, name: repo }: HostRepository,
  ref: string,
  check_name: string,
): Promise<OwnRun | null> {
  const parameters = { owner, repo, ref, check_name, app_id: auth.appId, filter: 'latest' };
  const found = await read('/repos/{owner}/{repo}/commits/{ref}/check-runs', parameters, CheckRuns, {
    absent,
  });
  const run = found?.check_runs.find(({ name, app }) => name === check_name && app?.id === auth.appId);
  return run === undefined ? null : ownRun(run);
}

/**
 * Null: the run cannot be updated, and a new one replaces it. GitHub never reopens a completed run and
 * reports no error: it answers with the run as it is. Another worker may have completed it in the meantime.
 */
async function updateRun(
  { attempt }: GithubClient,
  { owner, name: repo }: HostRepository,
  known: OwnRun,
  check: OwnCheck,
): Promise<OwnRun | null> {
  const isPending = check.state === 'pending';
  if (known.isCompleted && isPending) return null;
  const answer = await attempt(
    'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
    { owner, repo, check_run_id: known.id, ...runBody(check) },
    CheckRun,
    [404],
    { isRepeatable: true },
  );
  if (answer.kind === 'refused') return null;
  const { status, conclusion } = answer.value;
  const isSo = isPending ? status !== 'completed' : conclusion === check.state;
  return isSo ? ownRun(answer.value) : null;
}

async function createRun(
  { write }: GithubClient,
  { owner, name: repo }: HostRepository,
  head_sha: string,
  check: OwnCheck,
): Promise<OwnRun> {
  const parameters = { owner, repo, head_sha, ...runBody(check) };
  // A second run of the same name replaces the first.
  const options = { isRepeatable: true };
  return ownRun(await write('POST /repos/{owner}/{repo}/check-runs', parameters, CheckRun, options));
}
