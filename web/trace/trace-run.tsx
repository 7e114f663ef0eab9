// A test run in the trace: who was tested together, and on request its checks and its commit.

import { Text } from '@mantine/core';
import { shortSha } from '../format.ts';
import type { QueueName } from '../name.ts';
import type { IconName } from '../component/icon.tsx';
import { LinkedText } from '../component/linked-text.tsx';
import { Checks, summarizeChecks, type TestingResult } from '../queue/checks.tsx';
import { runBase, runTitle } from './run-text.ts';
import type { TraceRow } from './trace.ts';

export type RunStyle = {
  readonly tone: 'good' | 'bad' | 'busy' | 'warn' | 'calm';
  readonly icon: IconName | null;
  readonly label: string;
};

const runStyles: Readonly<Record<TestingResult['status'], RunStyle>> = {
  in_progress: { tone: 'busy', icon: 'flask', label: 'running' },
  succeeded: { tone: 'good', icon: 'check', label: 'passed' },
  failed: { tone: 'bad', icon: 'cross', label: 'failed' },
  cancelled: { tone: 'calm', icon: 'dash', label: 'cancelled' },
};

/** Until a run is loaded, its colour is that of its phase. */
export const runStyleOf = ({ tone, isOpen }: TraceRow, run: TestingResult | undefined): RunStyle =>
  run === undefined ? { tone, icon: null, label: isOpen ? 'running' : '' } : runStyles[run.status];

type RunNameProps = {
  readonly queue: QueueName;
  readonly number: number;
  /** Undefined: it is not loaded. */
  readonly run: TestingResult | undefined;
};

export function RunName({ queue, number, run }: RunNameProps) {
  if (run === undefined) return <span>Test run</span>;
  const base = runBase(run);
  return (
    <>
      <span>
        <LinkedText queue={queue} text={runTitle(run, number)} />
      </span>
      {base !== null && (
        <span className="small dimmed">
          <LinkedText queue={queue} text={base} />
        </span>
      )}
    </>
  );
}

type RunDetailsProps = { readonly run: TestingResult; readonly isOpen: boolean };

export const RunDetails = ({ run, isOpen }: RunDetailsProps) => (
  <details className="trace-run" open={isOpen}>
    <summary className="small">{summarizeChecks(run)}</summary>
    <article aria-label={`Run ${shortSha(run.testRunId)}`}>
      <Checks run={run} />
      <Text size="xs" c="dimmed" className="break">
        {run.testBranch}
        {run.testBranchSha !== null && ` at ${shortSha(run.testBranchSha)}`}
      </Text>
    </article>
  </details>
);
