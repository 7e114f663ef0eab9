// A test as it is shown, by the API and in events.

import type { TestCase, TestCaseDetails } from '#contract/test-health.ts';
import { type RepositoryName, repositoryUrl } from '#core/repository.ts';
import type { OverriddenTestRow, TestCaseRow, TestDetailsRow } from '#db/health/test-view.ts';

/** The parts of URLs. */
export type Addresses = {
  readonly publicUrl: string;
  /** URL of a ticket, with `{id}` in it. */
  readonly ticketUrl: string | null;
};

const encodeRepository = ({ host, owner, name }: RepositoryName): string =>
  encodeURIComponent(`${host}/${owner}/${name}`);

export const testPageUrl = (publicUrl: string, repo: RepositoryName, id: string): string =>
  `${publicUrl}/app/tests/${id}?repo=${encodeRepository(repo)}`;

export const pullRequestPageUrl = (
  publicUrl: string,
  repo: RepositoryName,
  branch: string,
  number: number,
): string =>
  `${publicUrl}/app/pull-request?repo=${encodeRepository(repo)}&branch=${encodeURIComponent(branch)}&number=${number}`;

export const queuePageUrl = (publicUrl: string, repo: RepositoryName, branch: string): string =>
  `${publicUrl}/app/queue?repo=${encodeRepository(repo)}&branch=${encodeURIComponent(branch)}`;

export function presentTest(addresses: Addresses, repo: RepositoryName, row: TestCaseRow): TestCase {
  return {
    id: row.id,
    repository: { html_url: repositoryUrl(repo) },
    html_url: testPageUrl(addresses.publicUrl, repo, row.id),
    name: row.name,
    variant: row.variant,
    status: {
      value: row.status as TestCase['status']['value'],
      reason: row.status_reason,
      timestamp: row.status_changed_at.toISOString(),
    },
    codeowners: row.codeowners,
    pull_requests_impacted_last_7d: row.pull_requests_impacted_7d,
    quarantined: row.quarantined_at !== null,
    ...(row.file_path === null ? {} : { file_path: row.file_path }),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.classname === null ? {} : { classname: row.classname }),
    ...presentTicket(addresses, row.ticket_id),
  };
}

export function presentTicket(
  { ticketUrl }: Addresses,
  ticketId: string | null,
): { readonly ticket?: { readonly html_url: string } } {
  const url = buildTicketUrl(ticketUrl, ticketId);
  return url === null ? {} : { ticket: { html_url: url } };
}

/** A ticket that is a URL is its own link; a key needs the tracker of the installation to become one. */
function buildTicketUrl(template: string | null, ticketId: string | null): string | null {
  if (ticketId === null) return null;
  if (/^https?:\/\//.test(ticketId)) return ticketId;
  return template === null ? null : template.replace('{id}', encodeURIComponent(ticketId));
}

export function presentDetails(
  addresses: Addresses,
  repo: RepositoryName,
  row: TestDetailsRow,
): TestCaseDetails {
  return {
    ...presentTest(addresses, repo, row),
    most_common_failures: row.common_failures.map((failure) => ({
      ...failure,
      last_occurrence: new Date(failure.last_occurrence).toISOString(),
    })),
    failure_rate_last_7d: row.runs_7d === 0 ? 0 : row.failures_7d / row.runs_7d,
    failure_rate_last_24h: row.runs_24h === 0 ? 0 : row.failures_24h / row.runs_24h,
    quarantine_setting: row.quarantine_setting as TestCaseDetails['quarantine_setting'],
    manual_status: row.manual_status as TestCaseDetails['manual_status'],
    ticket_id: row.ticket_id,
    // Absent in an event that an earlier release stored.
    quarantine_held_back: row.quarantine_held_back ?? null,
    ...presentOverride(row),
  };
}

export const presentOverride = (row: OverriddenTestRow) => ({
  quarantine_expires_at: row.quarantine_expires_at?.toISOString() ?? null,
  quarantine_owner: row.quarantine_owner,
  quarantine_owners: row.quarantine_owners ?? row.codeowners,
  quarantine_note: row.quarantine_note,
});
