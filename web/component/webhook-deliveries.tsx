// What was sent to an endpoint, attempt by attempt, and sending it again.

import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { WebhookDelivery, WebhookEndpoint } from '#contract/webhook.ts';
import { call } from '../api.ts';
import { queryClient } from '../query.ts';
import { Answer, Empty, Problem } from './answer.tsx';
import { useNotice } from './notice.tsx';
import { Section } from './section.tsx';
import { Pill } from './state.tsx';
import { Ago, Instant } from './time.tsx';

const route = getRouteApi('/webhooks');

const looks = {
  pending: { icon: 'clock', word: 'Waiting', tone: 'busy' },
  delivered: { icon: 'check', word: 'Delivered', tone: 'good' },
  dead: { icon: 'cross', word: 'Given up', tone: 'bad' },
} as const;

const states = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Waiting' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'dead', label: 'Given up' },
];

export function WebhookDeliveries({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const endpointId = endpoint.id;
  const deliveries = useInfiniteQuery({
    queryKey: ['webhook-deliveries', endpointId, state],
    queryFn: ({ pageParam }) =>
      call('listWebhookDeliveries', { endpointId, state, cursor: pageParam, take: 25 }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: 3_000,
  });
  return (
    <Section id="deliveries" title="Deliveries">
      <Stack>
        <Group align="flex-end">
          <Select
            label="Show"
            data={states}
            value={state ?? ''}
            allowDeselect={false}
            w={160}
            onChange={(value) =>
              void navigate({
                search: { endpoint: endpointId, ...(value ? { state: value as 'dead' } : {}) },
              })
            }
          />
          <ReplayFailed endpoint={endpoint} />
        </Group>
        <Answer query={deliveries} loading="Reading the deliveries">
          {({ pages }) => {
            const list = pages.flatMap((page) => page.deliveries);
            if (list.length === 0)
              return (
                <Empty icon="live" title="Nothing to show">
                  Deliveries are kept for 14 days. Send a test to see one.
                </Empty>
              );
            return (
              <ul className="plain">
                {list.map((delivery) => (
                  <DeliveryRow key={delivery.id} endpointId={endpointId} delivery={delivery} />
                ))}
              </ul>
            );
          }}
        </Answer>
        {deliveries.hasNextPage && (
          <Group>
            <Button
              variant="default"
              loading={deliveries.isFetchingNextPage}
              onClick={() => void deliveries.fetchNextPage()}
            >
              Show more
            </Button>
          </Group>
        )}
      </Stack>
    </Section>
  );
}

const keptMs = 14 * 86_400_000;

function ReplayFailed({ endpoint: { id, state } }: { readonly endpoint: WebhookEndpoint }) {
  const say = useNotice();
  const replaying = useMutation({
    mutationFn: () => {
      const since = new Date(Date.now() - keptMs);
      return call('replayWebhookDelivery', { endpointId: id, since, failedOnly: true });
    },
    onSuccess: async ({ replayed }) => {
      say(replayed === 0 ? 'Nothing was given up.' : `${replayed} are sent again.`);
      await queryClient.invalidateQueries();
    },
  });
  return (
    <>
      <Button
        variant="default"
        loading={replaying.isPending}
        disabled={state === 'disabled'}
        onClick={() => replaying.mutate()}
      >
        Send again what was given up
      </Button>
      {replaying.error !== null && <Problem error={replaying.error} />}
    </>
  );
}

type DeliveryRowProps = { readonly endpointId: string; readonly delivery: WebhookDelivery };

function DeliveryRow({ endpointId, delivery }: DeliveryRowProps) {
  const { id, type, attempts, state } = delivery;
  const say = useNotice();
  const last = attempts.at(-1);
  const replaying = useMutation({
    mutationFn: () => call('replayWebhookDelivery', { endpointId, deliveryId: id, failedOnly: false }),
    onSuccess: async () => {
      say('It is sent again.');
      await queryClient.invalidateQueries();
    },
  });
  return (
    <li className="row">
      <div className="shrink">
        <Text fw={600} className="break">
          {type} {aboutOf(delivery)}
        </Text>
        <Text size="sm" className="break">
          <Ago at={delivery.createdAt} /> ·{' '}
          {last === undefined
            ? 'not tried yet'
            : `${attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}, the last: ${outcomeOf(last)}`}
          {delivery.nextAttemptAt !== null && last !== undefined && (
            <>
              {' '}
              · again <Instant at={delivery.nextAttemptAt} />
            </>
          )}
        </Text>
        <details>
          <summary>What was sent and answered</summary>
          <Text size="sm" c="dimmed" className="break">
            <code>{id}</code>
          </Text>
          <pre className="failure-text" tabIndex={0} aria-label="Body">
            {JSON.stringify(delivery.payload, null, 2)}
          </pre>
          <ol>
            {attempts.map((attempt) => (
              <li key={attempt.at}>
                <Instant at={attempt.at} />: {outcomeOf(attempt)}
                {attempt.answer !== '' && (
                  <pre className="failure-text" tabIndex={0} aria-label="Answer">
                    {attempt.answer}
                  </pre>
                )}
              </li>
            ))}
          </ol>
        </details>
        {replaying.error !== null && <Problem error={replaying.error} />}
      </div>
      <div className="entry-state">
        <Pill {...looks[state]} />
        {state !== 'pending' && (
          <Button
            variant="default"
            size="xs"
            loading={replaying.isPending}
            aria-label={`Send again: ${type}`}
            onClick={() => replaying.mutate()}
          >
            Send again
          </Button>
        )}
      </div>
    </li>
  );
}

const outcomeOf = ({ status, error, ms }: WebhookDelivery['attempts'][number]): string =>
  `${error ?? `answered ${status}`} after ${ms} ms`;

/** The pull requests or the test that it is about. */
function aboutOf({ payload }: WebhookDelivery): string {
  const {
    pr_number: number,
    pr_numbers: numbers,
    test,
  } = payload as {
    readonly pr_number?: number;
    readonly pr_numbers?: readonly number[];
    readonly test?: { readonly name: string };
  };
  if (number !== undefined) return `#${number}`;
  if (numbers !== undefined) return numbers.map((each) => `#${each}`).join(', ');
  return test?.name ?? '';
}
