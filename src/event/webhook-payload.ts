// The body of an event: the data stored with the fact, and URLs that only the process knows. Every attempt of a delivery
// sends the same body.

import type { RepositoryName } from '#core/repository.ts';
import type { TestDetailsRow } from '#db/health/test-view.ts';
import {
  type Addresses,
  presentDetails,
  pullRequestPageUrl,
  queuePageUrl,
  testPageUrl,
} from './present-test.ts';

type Stored = Readonly<Record<string, unknown>>;
export type Payload = Readonly<Record<string, unknown>> & { readonly type: string };

/** A row of test details as JSON keeps it: instants are texts. */
function revived(test: Readonly<Record<string, unknown>>): TestDetailsRow {
  const instant = (key: string) => (typeof test[key] === 'string' ? new Date(test[key]) : null);
  const row = {
    ...test,
    status_changed_at: instant('status_changed_at'),
    quarantined_at: instant('quarantined_at'),
    quarantine_expires_at: instant('quarantine_expires_at'),
  };
  // Written by webhook-test-event.ts, with the columns of the view.
  return row as unknown as TestDetailsRow;
}

export function buildPayload(type: string, stored: Stored, addresses: Addresses): Payload {
  const { publicUrl } = addresses;
  const repo = stored['repository'] as RepositoryName;
  if (type.startsWith('test_case.')) {
    const test = presentDetails(addresses, repo, revived(stored['test'] as Stored));
    return { type, ...stored, test, http_details_url: testPageUrl(publicUrl, repo, test.id) };
  }
  if (type === 'webhook.test') return { type, ...stored, http_details_url: `${publicUrl}/app/webhooks` };
  const branch = String(stored['target_branch']);
  const number = stored['pr_number'];
  const url =
    typeof number === 'number'
      ? pullRequestPageUrl(publicUrl, repo, branch, number)
      : queuePageUrl(publicUrl, repo, branch);
  return { type, ...stored, http_details_url: url };
}
