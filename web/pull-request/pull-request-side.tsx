// Beside the trace of a pull request: what may be done with it, and facts about it.

import { Button, Stack, Title } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { PullRequestRecord } from './pull-request-status.tsx';
import { Instant } from '../component/time.tsx';
import { useMay } from '../api/query.ts';
import { formatPosition, shortSha } from '../format.ts';
import { type QueueName, safeHref } from '../name.ts';
import type { TestingResult } from '../queue/checks.tsx';
import { EntryButtons } from '../queue/entry-action.tsx';
import { sourceText } from '../queue/rule-text.ts';

const SubmitDialog = lazy(async () => ({
  default: (await import('../queue/submit-dialog.tsx')).SubmitDialog,
}));

type SideProps = {
  readonly queue: QueueName;
  readonly record: PullRequestRecord;
  /** Undefined: it had no test run, or that is not loaded. */
  readonly latestRun: TestingResult | undefined;
};

export const PullRequestSide = (props: SideProps) => (
  <aside className="side" aria-label="Facts and actions">
    <Actions {...props} />
    <Facts {...props} />
  </aside>
);

function Actions({ queue, record }: SideProps) {
  const [isSubmitting, setSubmitting] = useState(false);
  if (!useMay('submit') || record.state === 'merged') return null;
  return (
    <section className="card" aria-label="Actions">
      <Stack gap="xs">
        {record.isCurrentlySubmittedToQueue ? (
          <EntryButtons queue={queue} entry={record} />
        ) : (
          <Button onClick={() => setSubmitting(true)}>Submit again …</Button>
        )}
      </Stack>
      {isSubmitting && (
        <Suspense>
          <SubmitDialog
            queue={queue}
            batches={false}
            initialNumber={record.prNumber}
            onClose={() => setSubmitting(false)}
          />
        </Suspense>
      )}
    </section>
  );
}

type NamedNode = readonly [name: string, value: ReactNode];

function Facts({ record, latestRun }: SideProps) {
  const attempts = record.timeSpent ?? [];
  const [attempt] = attempts;
  const facts: readonly NamedNode[] = [
    ['Author', record.prAuthor],
    ...hostFact(record.prNumber, latestRun),
    ['Head commit', <code key="head">{shortSha(record.prSha)}</code>],
    ['Target branch', <code key="branch">{record.prBaseBranch}</code>],
    ['Priority', record.priorityName + (record.noBatch ? ', tested alone (no batch)' : '')],
    ...(record.queuePosition === null ? [] : [['Position', formatPosition(record.queuePosition)] as const]),
    ...(attempt === undefined
      ? []
      : [['Submitted', <Instant key="submitted" at={attempt.submittedAt} />] as const]),
    ...(attempts.length > 1 ? [['Attempts', String(attempts.length)] as const] : []),
    ...(latestRun === undefined
      ? []
      : [['Required checks', <RequiredChecks key="checks" run={latestRun} />] as const]),
  ];
  return (
    <section className="card" aria-labelledby="facts">
      <Title order={2} size="h6" id="facts" className="visually-hidden">
        Facts
      </Title>
      <dl className="fact-rows">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Only a run names the URL of the pull request at its Git host. */
function hostFact(number: number, run: TestingResult | undefined): readonly NamedNode[] {
  const own = run?.testedPullRequests.find(({ prNumber }) => prNumber === number);
  const href = safeHref(own?.prUrl);
  if (href === undefined) return [];
  const link = (
    <a key="host" href={href} target="_blank" rel="noreferrer">
      #{number} at {new URL(href).host}
    </a>
  );
  return [['Git host', link]];
}

const requiredBy: Readonly<Record<TestingResult['requiredStatusesSource'], string>> = {
  queue: 'the settings of the queue',
  repository_file: '.signalbox.yaml',
  branch_protection: 'the protection of the branch',
};

/** The checks of one source are named together. */
function RequiredChecks({ run }: { readonly run: TestingResult }) {
  const bySource = [...Map.groupBy(run.requiredChecks, ({ source }) => source)];
  return (
    <>
      {bySource.length === 0 && 'none '}
      {bySource.map(([source, checks]) => (
        <span key={source} className="required-checks">
          {checks.map(({ name }) => name).join(', ')}
          {source !== null && <span className="dimmed"> from {sourceText(source)}</span>}
        </span>
      ))}
      <span className="small dimmed">Required by {requiredBy[run.requiredStatusesSource]}.</span>
    </>
  );
}
