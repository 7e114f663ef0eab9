// Keeps one issue at the Git host for each incident (core/health/incident/incident.ts). The incidents are planned under the
// lock of the tests; then each issue that does not say what it should is written. Jobs of a repository run one after the
// other. Before an issue is opened that is recorded: if the answer is lost, it is searched for by its mark.

import { createHash, randomUUID } from 'node:crypto';
import { dayMs } from '#base/duration.ts';
import { planIncidents, reopenedForDays, togetherDays } from '#core/health/incident/incident.ts';
import { incidentMark, type IssueTest, type IssueText, issueText } from '#core/health/incident/issue-text.ts';
import type { RepositoryName } from '#core/repository.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import {
  type IncidentRow,
  listIncidents,
  listIncidentTests,
  noteIssueRefused,
  noteIssueRequested,
  noteIssueWritten,
  putIncidents,
} from '#db/health/incident-store.ts';
import { enqueueIssues, type JobPayloads } from '#db/job/job.ts';
import { withTestsLock } from '#db/transaction.ts';
import { HostError } from '#host/host.ts';
import type { IssueAnswer } from '#host/own-issue.ts';
import { testPageUrl } from '#event/present-test.ts';
import { type Served, withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

/** Issues written by one job: other content of the Git host gets its turn in between. */
const issuesMax = 20;
const pauseMs = 60_000;

type IssuePayload = JobPayloads['sync-issues'];

export async function syncIssues(deps: TaskDeps, payload: IssuePayload): Promise<void> {
  const { cell } = deps;
  const settings = await findHealthSettings(cell.db, payload.repositoryId);
  if (!settings.quarantine.openIssues) return;
  await planRepository(deps, payload);
  await withHost(deps, 'sync-issues', payload, [], (served) => writeIssues(deps, served, payload));
}

async function planRepository({ cell, clock }: TaskDeps, { repositoryId }: IssuePayload): Promise<void> {
  await withTestsLock(cell, repositoryId, async (tx, lock) => {
    const now = clock.now();
    const since = new Date(now.getTime() - togetherDays * dayMs);
    const tests = (await listIncidentTests(tx, lock, since)).map((row) => ({
      id: row.id,
      isQuarantined: row.quarantined_at !== null,
      isHealthy: row.status === 'healthy',
      uploads: new Set(row.uploads),
      incident:
        row.incident_id === null ? null : { id: row.incident_id, closedAt: row.closed_at?.getTime() ?? null },
    }));
    await putIncidents(tx, lock, planIncidents(tests, randomUUID, now.getTime()), now);
  });
}

async function writeIssues(
  { cell, clock, log, publicUrl }: TaskDeps,
  { host, repository }: Served,
  payload: IssuePayload,
): Promise<void> {
  const now = clock.now();
  const closedSince = new Date(now.getTime() - reopenedForDays * dayMs);
  const incidents = await listIncidents(cell.db, repository.id, closedSince);
  const due = incidents.flatMap((incident) => {
    const text = issueText(incident.tests.map((test) => presentTest(test, publicUrl, repository)));
    const hash = hashIssue(text, incident.closed_at === null);
    return isDue(incident, hash, now) ? [{ incident, text, hash }] : [];
  });
  for (const { incident, text, hash } of due.slice(0, issuesMax)) {
    const { id, issue_number: number, requested_at: requestedAt, refusal } = incident;
    const isSure = number !== null || (requestedAt !== null && refusal === null);
    if (!isSure) await noteIssueRequested(cell.db, repository.id, id, now);
    const issue = { number, maybeSince: requestedAt, mark: incidentMark(id), ...text };
    const isOpen = incident.closed_at === null;
    const answer = await host.writeIssue(repository, { ...issue, isOpen }).catch(answerForbidden);
    if (answer.kind === 'written') await noteIssueWritten(cell.db, repository.id, id, { ...answer, hash });
    else {
      log.warn({ repository: repository.id, reason: answer.reason }, 'git host refused to open an issue');
      await noteIssueRefused(cell.db, repository.id, id, answer.reason);
    }
  }
  if (due.length > issuesMax) await enqueueIssues(cell.db, payload, pauseMs);
}

/** Signalbox may not write issues there: the issues of other repositories do not wait for that. */
function answerForbidden(error: unknown): IssueAnswer {
  if (error instanceof HostError && error.trouble === 'forbidden')
    return { kind: 'cannot', reason: error.message };
  throw error;
}

/** A Git host that refused is not called again with each upload. */
const refusedMs = 50 * 60_000;

function isDue(incident: IncidentRow, hash: Buffer, now: Date): boolean {
  const { closed_at: closedAt, requested_at: requestedAt, refusal } = incident;
  // It was over before its issue was opened.
  if (closedAt !== null && (requestedAt === null || refusal !== null)) return false;
  if (refusal !== null && requestedAt !== null && now.getTime() - requestedAt.getTime() < refusedMs)
    return false;
  return incident.written_hash?.equals(hash) !== true;
}

const presentTest = (
  test: IncidentRow['tests'][number],
  publicUrl: string,
  repository: RepositoryName,
): IssueTest => ({
  name: test.name,
  file: test.file_path,
  status: test.status,
  isQuarantined: test.quarantined_at !== null,
  endsAt: test.quarantine_expires_at === null ? null : new Date(test.quarantine_expires_at),
  owners: test.quarantine_owners,
  url: testPageUrl(publicUrl, repository, test.id),
});

const hashIssue = ({ title, body }: IssueText, isOpen: boolean): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([title, body, isOpen]))
    .digest();
