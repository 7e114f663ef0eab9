// The changes of a test's state and their reasons, newest first.

import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { heldBackText } from '#contract/text/held-back-text.ts';
import { formatInstant, humanizeCode } from '../format.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import { Empty } from '../component/query-result.tsx';
import { monitorTitle } from './monitor-list.tsx';
import { Instant } from '../component/time.tsx';

type TestHistoryChange = ResponseOf<'getTestHistory'>['changes'][number];

const settingLabels: Readonly<Record<string, string>> = {
  ALWAYS_QUARANTINE: 'always',
  NEVER_QUARANTINE: 'never',
  AUTO_QUARANTINE: 'automatic',
};

const fixStates: Readonly<Record<string, string>> = {
  verifying: 'begun',
  fixed: 'confirmed',
  refuted: 'refuted, it failed as before',
  failed_otherwise: 'ended, it failed in a new way',
  expired: 'ended, it took too long',
  cancelled: 'cancelled',
};

function describeTestChange({ kind, monitor, before, after, reason }: TestHistoryChange): string {
  if (kind === 'renamed')
    return after === 'carried' ? `Renamed: was “${reason}”` : `Separated from its former name “${reason}”`;
  if (kind === 'status_changed') return `From ${before} to ${after}`;
  if (kind === 'monitor_status_changed') return `${monitorTitle(monitor ?? '')}: ${after}, was ${before}`;
  if (kind === 'quarantine_held_back') return `Not quarantined. ${heldBackText(after)}`;
  if (kind === 'quarantine_ending') return `Warning: its quarantine ends at ${formatInstant(after)}`;
  if (kind === 'fix_verification_changed')
    return `Verification of its fix: ${fixStates[after] ?? humanizeCode(after)}`;
  if (kind === 'breakage_located')
    return after === 'unknown' ? 'Likeliest cause: unknown' : `Likeliest cause: ${after}`;
  return `Quarantine: ${settingLabels[after] ?? humanizeCode(after)}, was ${settingLabels[before] ?? humanizeCode(before)}`;
}

export const TestChanges = ({
  changes,
  repo,
}: {
  readonly changes: readonly TestHistoryChange[];
  readonly repo: Repo;
}) =>
  changes.length === 0 ? (
    <Empty icon="check" title="No status changes yet" />
  ) : (
    <ol className="plain timeline">
      {changes.map((change) => (
        <li key={`${change.at} ${change.kind} ${change.monitor ?? ''}`}>
          <Text size="sm" c="dimmed">
            <Instant at={change.at} />
          </Text>
          <div className="shrink">
            <Text size="sm" fw={600}>
              {describeTestChange(change)}
            </Text>
            {change.reason !== '' && change.kind !== 'renamed' && (
              <Text size="sm" className="why">
                {change.reason.charAt(0).toUpperCase() + change.reason.slice(1)}
              </Text>
            )}
            <Text size="sm" c="dimmed">
              <Cause change={change} repo={repo} />
            </Text>
          </div>
        </li>
      ))}
    </ol>
  );

function Cause({ change, repo }: { readonly change: TestHistoryChange; readonly repo: Repo }) {
  if (change.trigger === 'time') return <>over time, without a new upload</>;
  if (change.trigger === 'person') return <>by {change.actor ?? 'a user'}</>;
  if (change.upload_id === null) return <>by an upload</>;
  return (
    <Link to="/uploads/$id" params={{ id: change.upload_id }} search={{ repo: formatRepoPath(repo) }}>
      by an upload
    </Link>
  );
}
