// What changed about a test and why, newest first.

import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { wordsOf } from '../format.ts';
import { pathOf, type Repo } from '../name.ts';
import { Empty } from './answer.tsx';
import { monitorTitle } from './monitor-list.tsx';
import { Instant } from './time.tsx';

type Change = ResponseOf<'getTestHistory'>['changes'][number];

const settings: Readonly<Record<string, string>> = {
  ALWAYS_QUARANTINE: 'always',
  NEVER_QUARANTINE: 'never',
  AUTO_QUARANTINE: 'by its health',
};

function sentenceOf({ kind, monitor, before, after }: Change): string {
  if (kind === 'status_changed') return `From ${before} to ${after}`;
  if (kind === 'monitor_status_changed') return `${monitorTitle(monitor ?? '')}: ${after}, was ${before}`;
  return `Quarantine: ${settings[after] ?? wordsOf(after)}, was ${settings[before] ?? wordsOf(before)}`;
}

export const TestChanges = ({
  changes,
  repo,
}: {
  readonly changes: readonly Change[];
  readonly repo: Repo;
}) =>
  changes.length === 0 ? (
    <Empty icon="check" title="Nothing has changed yet" />
  ) : (
    <ol className="plain timeline">
      {changes.map((change) => (
        <li key={`${change.at} ${change.kind} ${change.monitor ?? ''}`}>
          <Text size="sm" c="dimmed">
            <Instant at={change.at} />
          </Text>
          <div className="shrink">
            <Text size="sm" fw={600}>
              {sentenceOf(change)}
            </Text>
            {change.reason !== '' && (
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

function Cause({ change, repo }: { readonly change: Change; readonly repo: Repo }) {
  if (change.trigger === 'time') return <>as time went by</>;
  if (change.trigger === 'person') return <>by {change.actor ?? 'a person'}</>;
  if (change.upload_id === null) return <>by an upload</>;
  return (
    <Link to="/uploads/$id" params={{ id: change.upload_id }} search={{ repo: pathOf(repo) }}>
      by an upload
    </Link>
  );
}
