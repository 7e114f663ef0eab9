// The events of a pull request, over all of its attempts; newest first.

import { Text, Title } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { shortSha } from '../format.ts';
import { reasonText } from '#contract/text/reason-text.ts';
import { ruleChangeTexts } from '../queue/rule-text.ts';
import { EntryPill } from '../component/pill.tsx';
import { Instant } from '../component/time.tsx';

type TimelineEvent = NonNullable<ResponseOf<'getSubmittedPullRequest'>['timeline']>[number];

export function EventList({ events }: { readonly events: readonly TimelineEvent[] }) {
  const attempts = [...Map.groupBy(events, ({ trip: attempt }) => attempt)];
  return (
    <details className="card events">
      <summary>
        <Title order={2} size="h4" className="inline">
          All events
        </Title>{' '}
        <span className="dimmed">({events.length})</span>
      </summary>
      {attempts.map(([attempt, list]) => (
        <div key={attempt}>
          {attempts.length > 1 && (
            <Title order={3} size="h6">
              Attempt {attempt}
            </Title>
          )}
          <ol className="plain timeline">
            {list.map((event) => (
              <li key={`${event.timestamp}${event.state}${event.reason}${event.testRunId}`}>
                <EntryPill state={event.state} />
                <div className="shrink">
                  {event.reason !== null && <Text size="sm">{reasonText[event.reason]}</Text>}
                  {ruleChangeTexts(event).map((text) => (
                    <Text key={text} size="sm" className="break">
                      {text}
                    </Text>
                  ))}
                  <Text size="sm" c="dimmed">
                    <Instant at={event.timestamp} /> · {event.actor}
                    {event.testRunId !== undefined && ` · run ${shortSha(event.testRunId)}`}
                  </Text>
                </div>
              </li>
            ))}
          </ol>
        </div>
      ))}
    </details>
  );
}
