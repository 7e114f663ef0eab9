// What failed in the latest attempt of a pull request: checks with links to CI, and tests with what is known of them.

import { Text } from '@mantine/core';
import { Section } from '../component/section.tsx';
import { LinkedText } from '../component/linked-text.tsx';
import { Pill } from '../component/pill.tsx';
import { type QueueName, safeHref } from '../name.ts';
import { runTitle } from '../trace/run-text.ts';
import type { TestRuns } from '../trace/run-query.ts';
import { listFailedChecks } from '../queue/checks.tsx';
import { mergeFailedChecks, mergeFailedTests } from './failure.ts';
import { FailedTests, type FailedTestsSummary } from '../queue/failed-tests.tsx';

type WhatFailedProps = {
  readonly queue: QueueName;
  readonly number: number;
  /** In the run that made it fail; null: there is none. */
  readonly failedTests: FailedTestsSummary | null;
  /** Of the attempt, latest first. */
  readonly runs: TestRuns;
};

export function WhatFailed({ queue, number, failedTests, runs }: WhatFailedProps) {
  const all = [...runs.values()];
  const tests = mergeFailedTests([
    ...(failedTests === null ? [] : [failedTests]),
    ...all.map((run) => run.failedTests),
  ]);
  const checks = mergeFailedChecks(
    all.flatMap((run) => listFailedChecks(run).map(({ name, url }) => ({ name, url, run }))),
  );
  if (tests.count === 0 && checks.length === 0) return null;
  return (
    <Section id="what-failed" title="What failed">
      <div className="card failures">
        {tests.count > 0 && <FailedTests failed={tests} repo={queue.repo} />}
        {checks.length > 0 && (
          <ul className="plain" aria-label="Failed checks">
            {checks.map(({ name, url, run }) => (
              <li key={name} className="failed-test">
                <Pill icon="cross" label="Check failed" tone="bad" />
                <CheckLink name={name} url={url} />
                <Text size="sm" c="dimmed">
                  <LinkedText queue={queue} text={runTitle(run, number)} />
                </Text>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Section>
  );
}

function CheckLink({ name, url }: { readonly name: string; readonly url: string }) {
  const href = safeHref(url);
  if (href === undefined) return <span className="break">{name}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer" className="break">
      {name}
    </a>
  );
}
