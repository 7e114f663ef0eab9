// The deliveries to an endpoint, attempt by attempt, and a button to send one again.

import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { WebhookDelivery, WebhookEndpoint } from '#contract/webhook.ts';
import { call } from '../api/api.ts';
import { queryClient } from '../api/query.ts';
import { QueryResult, Empty, ErrorAlert } from '../component/query-result.tsx';
import { useNotice } from '../component/notice.tsx';
import { Section } from '../component/section.tsx';
import { Pill } from '../component/pill.tsx';
import { Ago, Instant } from '../component/time.tsx';

const route = getRouteApi('/webhooks');

const stateStyles = {
  pending: { icon: 'clock', label: 'Waiting', tone: 'busy' },
  delivered: { icon: 'check', label: 'Delivered', tone: 'good' },
  dead: { icon: 'cross', label: 'Failed', tone: 'bad' },
} as const;

const states = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Waiting' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'dead', label: 'Failed' },
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
            label="State"
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
        <QueryResult query={deliveries} loading="Loading the deliveries">
          {({ pages }) => {
            const list = pages.flatMap((page) => page.deliveries);
            if (list.length === 0)
              return (
                <Empty icon="live" title="There are no deliveries">
                  Signalbox keeps deliveries for 14 days. Send a test event to see one.
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
        </QueryResult>
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
  const notify = useNotice();
  const replaying = useMutation({
    mutationFn: () => {
      const since = new Date(Date.now() - keptMs);
      return call('replayWebhookDelivery', { endpointId: id, since, failedOnly: true });
    },
    onSuccess: async ({ replayed }) => {
      notify(replayed === 0 ? 'There are no failed deliveries.' : `Resending: ${replayed}.`);
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
        Resend failed deliveries
      </Button>
      {replaying.error !== null && <ErrorAlert error={replaying.error} />}
    </>
  );
}

type DeliveryRowProps = { readonly endpointId: string; readonly delivery: WebhookDelivery };

function DeliveryRow({ endpointId, delivery }: DeliveryRowProps) {
  const { id, type, attempts, state } = delivery;
  const notify = useNotice();
  const last = attempts.at(-1);
  const replaying = useMutation({
    mutationFn: () => call('replayWebhookDelivery', { endpointId, deliveryId: id, failedOnly: false }),
    onSuccess: async () => {
      notify('The event is being resent.');
      await queryClient.invalidateQueries();
    },
  });
  return (
    <li className="row">
      <div className="shrink">
        <Text fw={600} className="break">
          {type} {describeDeliverySubject(delivery)}
        </Text>
        <Text size="sm" className="break">
          <Ago at={delivery.createdAt} /> ·{' '}
          {last === undefined
            ? 'not sent yet'
            : `${attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}, last: ${describeDeliveryAttempt(last)}`}
          {delivery.nextAttemptAt !== null && last !== undefined && (
            <>
              {' '}
              · next attempt <Instant at={delivery.nextAttemptAt} />
            </>
          )}
        </Text>
        <details>
          <summary>Request and response</summary>
          <Text size="sm" c="dimmed" className="break">
            <code>{id}</code>
          </Text>
          <pre className="failure-text" tabIndex={0} aria-label="Request body">
            {JSON.stringify(delivery.payload, null, 2)}
          </pre>
          <ol>
            {attempts.map((attempt) => (
              <li key={attempt.at}>
                <Instant at={attempt.at} />: {describeDeliveryAttempt(attempt)}
                {attempt.answer !== '' && (
                  <pre className="failure-text" tabIndex={0} aria-label="Response body">
                    {attempt.answer}
                  </pre>
                )}
              </li>
            ))}
          </ol>
        </details>
        {replaying.error !== null && <ErrorAlert error={replaying.error} />}
      </div>
      <div className="entry-state">
        <Pill {...stateStyles[state]} />
        {state !== 'pending' && (
          <Button
            variant="default"
            size="xs"
            loading={replaying.isPending}
            aria-label={`Resend ${type}`}
            onClick={() => replaying.mutate()}
          >
            Resend
          </Button>
        )}
      </div>
    </li>
  );
}

const describeDeliveryAttempt = ({ status, error, ms }: WebhookDelivery['attempts'][number]): string =>
  `${error ?? `answered ${status}`} after ${ms} ms`;

/** The pull requests or the test that it is about. */
function describeDeliverySubject({ payload }: WebhookDelivery): string {
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
