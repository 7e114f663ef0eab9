// Writes sandbox_repository, sandbox_check and sandbox_ci.

import type { RepositoryId } from '#base/id.ts';
import type { Check } from '#core/queue/check.ts';
import type { Cell, Tx } from '../cell.ts';
import { enqueueSandboxCi } from '../job/job.ts';
import { statement } from '../statement.ts';
import { withTransaction } from '../transaction.ts';

type StatusState = Extract<Check, { kind: 'status' }>['state'];
/** Other states are conclusions that only check runs have. */
const statusStates: ReadonlySet<string> = new Set(['pending', 'success', 'failure', 'error']);
type SandboxCiOutcome = 'success' | 'failure' | 'error';
export type SandboxCiKey = { readonly branch: string; readonly sha: string };
export type SandboxCiRow = SandboxCiKey & {
  readonly attempt: number;
  readonly state: 'queued' | 'running' | 'done';
  readonly outcome: SandboxCiOutcome | null;
  readonly log: string;
};

/** A check as a script sets it: a state of a commit status, or any conclusion of a check run. */
export type NewSandboxCheck = {
  readonly name: string;
  readonly state: string;
  readonly url: string;
  /** The app that reports it: with an app it is a check run. */
  readonly app?: string | undefined;
};

const selectSettings = statement<[repositoryId: string], { settings: unknown }>(
  'select settings from sandbox_repository where repository_id = $1',
);

export async function findSandboxSettings(db: Tx, repositoryId: RepositoryId): Promise<unknown> {
  return (await selectSettings(db, repositoryId))[0]?.settings ?? null;
}

const upsertSettings = statement<[repositoryId: string, settings: string]>(`
  insert into sandbox_repository (repository_id, settings) values ($1, $2)
  on conflict (repository_id) do update set settings = excluded.settings`);

export const saveSandboxSettings = (
  db: Tx,
  repositoryId: RepositoryId,
  settings: unknown,
): Promise<unknown> => upsertSettings(db, repositoryId, JSON.stringify(settings));

type CheckRow = {
  name: string;
  state: string;
  url: string;
  at: number;
  is_check_run: boolean;
  app: string | null;
};

const checkColumns =
  'name, state, url, is_check_run, app, extract(epoch from updated_at)::float8 * 1000 as at';

/** Each check run of the sandbox has its own suite. */
function toSandboxCheck({ name, state, url, at, is_check_run: isRun, app }: CheckRow): Check {
  if (!isRun) return { kind: 'status', name, state: state as StatusState, url, at };
  const isOpen = state === 'pending';
  return {
    kind: 'check',
    suite: name,
    name,
    status: isOpen ? 'in_progress' : 'completed',
    // A check run has no conclusion `error`.
    conclusion: isOpen ? null : state === 'error' ? 'failure' : state,
    url,
    at,
    ...(app !== null && { app }),
  };
}

const selectChecks = statement<[repositoryId: string, sha: string], CheckRow>(
  `select ${checkColumns} from sandbox_check where repository_id = $1 and sha = $2 order by name`,
);

export async function listSandboxChecks(
  db: Tx,
  repositoryId: RepositoryId,
  sha: string,
): Promise<readonly Check[]> {
  return (await selectChecks(db, repositoryId, sha)).map(toSandboxCheck);
}

// Later updates have later times, even within a millisecond. A name that was once a check run of the commit
// stays one: on a real host, too, a commit status would not replace it.
const upsertChecks = statement<
  [
    repositoryId: string,
    sha: string,
    names: readonly string[],
    state: string,
    url: string,
    replaces: boolean,
    isCheckRun: boolean,
    app: string | null,
  ],
  CheckRow
>(`
  insert into sandbox_check as c (repository_id, sha, name, state, url, updated_at, is_check_run, app)
  select $1, $2, name, $4, $5, date_trunc('milliseconds', clock_timestamp()), $7, $8 from unnest($3::text[]) as name
  on conflict (repository_id, sha, name) do update set state = excluded.state, url = excluded.url,
    is_check_run = c.is_check_run or excluded.is_check_run, app = coalesce(excluded.app, c.app),
    updated_at = greatest(excluded.updated_at, c.updated_at + interval '1 millisecond')
  where $6
  returning ${checkColumns}`);

export async function saveSandboxCheck(
  db: Tx,
  repositoryId: RepositoryId,
  sha: string,
  { name, state, url, app }: NewSandboxCheck,
): Promise<readonly Check[]> {
  const isRun = app !== undefined || !statusStates.has(state);
  const saved = await upsertChecks(db, repositoryId, sha, [name], state, url, true, isRun, app ?? null);
  return saved.map(toSandboxCheck);
}

const selectCheckNames = statement<[repositoryId: string], { name: string }>(`
  select distinct name from sandbox_check
  where repository_id = $1 and updated_at > now() - interval '30 days' order by name limit 100`);

/** Names of checks that reported on any commit lately. */
export async function listSandboxCheckNames(db: Tx, repositoryId: RepositoryId): Promise<readonly string[]> {
  return (await selectCheckNames(db, repositoryId)).map(({ name }) => name);
}

const ciColumns = 'branch, sha, attempt, state, outcome, log';

const insertCi = statement<
  [repositoryId: string, branch: string, sha: string, delayMs: number | null],
  SandboxCiRow
>(`
  insert into sandbox_ci (repository_id, branch, sha, attempt, due_at)
  values ($1, $2, $3, (select count(*) + 1 from sandbox_ci where repository_id = $1 and sha = $3),
    now() + make_interval(secs => $4::float8 / 1000))
  on conflict (repository_id, branch, sha) do nothing returning ${ciColumns}`);

/** Adds a record, pending statuses and the job that ends it; returns the statuses, null if it exists. */
export function startSandboxCi(
  cell: Cell,
  repositoryId: RepositoryId,
  start: SandboxCiKey & { readonly contexts: readonly string[]; readonly delayMs: number | null },
): Promise<readonly Check[] | null> {
  const { branch, sha, contexts, delayMs } = start;
  return withTransaction(cell, async (tx) => {
    const [record] = await insertCi(tx, repositoryId, branch, sha, delayMs);
    if (record === undefined) return null;
    // Scripted CI may have its results before it starts: these stay.
    const isScripted = delayMs === null;
    const checks = await upsertChecks(
      tx,
      repositoryId,
      sha,
      contexts,
      'pending',
      '',
      !isScripted,
      false,
      null,
    );
    if (delayMs !== null) await enqueueSandboxCi(tx, { repositoryId, branch, sha }, delayMs);
    return checks.map(toSandboxCheck);
  });
}

const selectCi = statement<[repositoryId: string, branch: string, sha: string], SandboxCiRow>(
  `select ${ciColumns} from sandbox_ci where repository_id = $1 and branch = $2 and sha = $3`,
);

export async function findSandboxCi(
  db: Tx,
  repositoryId: RepositoryId,
  { branch, sha }: SandboxCiKey,
): Promise<SandboxCiRow | null> {
  return (await selectCi(db, repositoryId, branch, sha))[0] ?? null;
}

const selectCiOfCommit = statement<[repositoryId: string, sha: string], SandboxCiRow>(
  `select ${ciColumns} from sandbox_ci where repository_id = $1 and sha = $2 order by attempt desc limit 100`,
);

export const listSandboxCi = (
  db: Tx,
  repositoryId: RepositoryId,
  sha: string,
): Promise<readonly SandboxCiRow[]> => selectCiOfCommit(db, repositoryId, sha);

const updateRunning = statement<[repositoryId: string, branch: string, sha: string]>(`
  update sandbox_ci set state = 'running'
  where repository_id = $1 and branch = $2 and sha = $3 and state = 'queued'`);

export const markSandboxCiRunning = (
  db: Tx,
  repositoryId: RepositoryId,
  { branch, sha }: SandboxCiKey,
): Promise<unknown> => updateRunning(db, repositoryId, branch, sha);

const updateDone = statement<
  [repositoryId: string, branch: string, sha: string, outcome: string, log: string],
  { is_newest: boolean }
>(`
  update sandbox_ci c set state = 'done', outcome = $4, log = $5
  where repository_id = $1 and branch = $2 and sha = $3 and state <> 'done'
  returning not exists (select from sandbox_ci later
    where later.repository_id = $1 and later.sha = $3 and later.attempt > c.attempt) as is_newest`);

/** Returns the statuses; none if CI had ended, or the commit is being tested again. */
export function endSandboxCi(
  cell: Cell,
  repositoryId: RepositoryId,
  end: SandboxCiKey & {
    readonly outcome: SandboxCiOutcome;
    readonly log: string;
    readonly contexts: readonly string[];
  },
): Promise<readonly Check[]> {
  const { branch, sha, outcome, log, contexts } = end;
  return withTransaction(cell, async (tx) => {
    const [ended] = await updateDone(tx, repositoryId, branch, sha, outcome, log);
    if (ended?.is_newest !== true) return [];
    return (await upsertChecks(tx, repositoryId, sha, contexts, outcome, '', true, false, null)).map(
      toSandboxCheck,
    );
  });
}

const updateStopped = statement<[repositoryId: string, branch: string, sha: string], { sha: string }>(`
  update sandbox_ci set state = 'done', log = log || 'Stopped: its test run has ended.'
  where repository_id = $1 and branch = $2 and sha = $3 and state <> 'done' returning sha`);

// As on GitHub: a cancelled run is a check run with that conclusion.
const cancelPending = statement<[repositoryId: string, sha: string], CheckRow>(`
  update sandbox_check set state = 'cancelled', is_check_run = true,
    updated_at = greatest(date_trunc('milliseconds', clock_timestamp()), updated_at + interval '1 millisecond')
  where repository_id = $1 and sha = $2 and state = 'pending' returning ${checkColumns}`);

/** Stops running CI without an outcome; returns the cancelled checks, null if none was running. */
export function stopSandboxCi(
  cell: Cell,
  repositoryId: RepositoryId,
  { branch, sha }: SandboxCiKey,
): Promise<readonly Check[] | null> {
  return withTransaction(cell, async (tx) => {
    const stopped = await updateStopped(tx, repositoryId, branch, sha);
    return stopped.length === 0 ? null : (await cancelPending(tx, repositoryId, sha)).map(toSandboxCheck);
  });
}

const selectTestRunSha = statement<[repositoryId: string, number: number], { sha: string | null }>(`
  select t.test_branch_sha as sha from queue q
  join test_run_member m on m.queue_id = q.id and m.pr_number = $2 and m.under_test
  join test_run t on t.queue_id = m.queue_id and t.id = m.test_run_id
  where q.repository_id = $1 and t.test_branch_sha is not null
  order by t.created_at desc, t.id desc limit 1`);

/** The commit of the newest test run that tests the pull request. */
export async function findTestRunSha(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<string | null> {
  return (await selectTestRunSha(db, repositoryId, number))[0]?.sha ?? null;
}
