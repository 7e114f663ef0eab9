// What happened to a pull request, over all of its trips through the queue; newest first.

import { Stack, Text, Title } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint.ts';
import { shortSha } from '../format.ts';
import { reasonWords } from '#contract/reason-words.ts';
import { ruleChangeTexts } from '../rule-text.ts';
import { EntryPill } from './state.tsx';
import { Instant } from './time.tsx';

export type TimelineEvent = NonNullable<ResponseOf<'getSubmittedPullRequest'>['timeline']>[number];

export function Timeline({ events }: { readonly events: readonly TimelineEvent[] }) {
  const trips = [...Map.groupBy(events, ({ trip }) => trip)];
  return (
    <Stack gap="sm" component="section" aria-labelledby="timeline">
      <Title order={2} size="h4" id="timeline">
        Timeline
      </Title>
      {trips.map(([trip, list]) => (
        <div key={trip}>
          {trips.length > 1 && (
            <Title order={3} size="h6">
              Trip {trip}
            </Title>
          )}
          <ol className="plain timeline">
            {list.map((event) => (
              <li key={`${event.timestamp}${event.state}${event.reason}${event.testRunId}`}>
                <EntryPill state={event.state} />
                <div className="shrink">
                  {event.reason !== null && <Text size="sm">{reasonWords[event.reason]}</Text>}
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
    </Stack>
  );
}
