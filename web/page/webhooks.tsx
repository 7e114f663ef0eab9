import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookEndpoint } from '#contract/webhook.ts';
import { call } from '../api/api.ts';
import { QueryResult, Empty, ErrorAlert } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { Pill } from '../component/pill.tsx';
import { Ago } from '../component/time.tsx';
import { WebhookDeliveries } from '../account/webhook-deliveries.tsx';
import {
  CreateWebhookDialog,
  DeleteWebhookDialog,
  EditWebhookDialog,
  RotateWebhookDialog,
  WebhookSecret,
  type CreatedSecret,
} from '../account/webhook-dialog.tsx';
import { useMay } from '../api/query.ts';

const route = getRouteApi('/webhooks');

const stateStyles = {
  active: { icon: 'check', label: 'Active', tone: 'good' },
  failing: { icon: 'warning', label: 'Failing', tone: 'warn' },
  disabled: { icon: 'pause', label: 'Disabled', tone: 'bad' },
} as const;

const kinds = { webhook: 'Webhook', slack: 'Slack', teams: 'Teams' } as const;

const endpointsQuery = {
  queryKey: ['webhooks'],
  queryFn: () => call('listWebhookEndpoints', {}),
  refetchInterval: 5_000,
};

export function WebhooksPage() {
  const isAdmin = useMay('admin');
  const { endpoint } = route.useSearch();
  return (
    <Stack>
      <title>Webhooks · Signalbox</title>
      {!isAdmin ? (
        <>
          <Title order={1} size="h2">
            Webhooks
          </Title>
          <Empty icon="shield" title="Webhooks are for administrators">
            Ask an administrator of your organization to add an endpoint for you.
          </Empty>
        </>
      ) : endpoint === undefined ? (
        <Webhooks />
      ) : (
        <EndpointDetails id={endpoint} />
      )}
    </Stack>
  );
}

function Webhooks() {
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<CreatedSecret | null>(null);
  const endpoints = useQuery(endpointsQuery);
  return (
    <>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Webhooks
        </Title>
        <Button onClick={() => setIsCreating(true)}>Add endpoint</Button>
      </Group>
      <Text c="dimmed" maw={720}>
        Signalbox sends events about pull requests and tests to your programs and chat channels. If an
        endpoint does not accept an event, Signalbox retries for 24 hours.
      </Text>
      <QueryResult query={endpoints} loading="Loading the endpoints">
        {({ endpoints: list }) =>
          list.length === 0 ? (
            <Empty icon="live" title="There are no webhook endpoints yet">
              Add an endpoint for one of your programs, or for a Slack or Teams channel.
            </Empty>
          ) : (
            <ul className="plain">
              {list.map((endpoint) => (
                <EndpointRow key={endpoint.id} endpoint={endpoint} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {isCreating && <CreateWebhookDialog onCreated={setCreated} onClose={() => setIsCreating(false)} />}
      {created !== null && <WebhookSecret created={created} onClose={() => setCreated(null)} />}
    </>
  );
}

const EndpointRow = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => (
  <li className="row">
    <div className="shrink">
      <Link to="/webhooks" search={{ endpoint: endpoint.id }} className="entry-title break">
        {endpoint.name}
      </Link>
      <Text size="sm" className="break">
        {kinds[endpoint.kind]} · {endpoint.url}
      </Text>
      <Text size="sm" c="dimmed" className="break">
        <EndpointEvents endpoint={endpoint} /> · <EndpointHealth endpoint={endpoint} />
      </Text>
    </div>
    <div className="entry-state">
      <Pill {...stateStyles[endpoint.state]} />
    </div>
  </li>
);

function EndpointEvents({ endpoint: { eventTypes, repositories } }: { readonly endpoint: WebhookEndpoint }) {
  const types = eventTypes.length === 0 ? 'all events' : eventTypes.join(', ');
  if (repositories === null) return types;
  return `${types} for ${repositories.map(({ owner, name }) => `${owner}/${name}`).join(', ')}`;
}

function EndpointHealth({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { lastSuccessAt, failingSince, pending } = endpoint;
  const waiting = pending === 0 ? '' : ` · ${pending} waiting to be sent`;
  if (failingSince !== null)
    return (
      <>
        no event accepted since <Ago at={failingSince} />
        {waiting}
      </>
    );
  if (lastSuccessAt === null) return `no event sent yet${waiting}`;
  return (
    <>
      last event accepted <Ago at={lastSuccessAt} />
      {waiting}
    </>
  );
}

type OpenDialog = 'edit' | 'rotate' | 'delete' | null;

function EndpointDetails({ id }: { readonly id: string }) {
  const endpoints = useQuery(endpointsQuery);
  return (
    <QueryResult query={endpoints} loading="Loading the endpoint">
      {({ endpoints: list }) => {
        const endpoint = list.find((each) => each.id === id);
        if (endpoint !== undefined) return <Endpoint endpoint={endpoint} />;
        return (
          <Empty icon="live" title="This endpoint does not exist">
            <Link to="/webhooks">All endpoints</Link>
          </Empty>
        );
      }}
    </QueryResult>
  );
}

function Endpoint({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [open, setOpen] = useState<OpenDialog>(null);
  const [created, setCreated] = useState<CreatedSecret | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Link to="/webhooks">Webhooks</Link>
      <Group justify="space-between">
        <Group>
          <Title order={1} size="h2" className="break">
            {endpoint.name}
          </Title>
          <Pill {...stateStyles[endpoint.state]} />
        </Group>
        <Group gap="xs">
          <SendTest endpoint={endpoint} />
          <Button variant="default" onClick={() => setOpen('edit')}>
            Edit
          </Button>
          {endpoint.kind === 'webhook' && (
            <Button variant="default" onClick={() => setOpen('rotate')}>
              Rotate secret
            </Button>
          )}
          <Button variant="default" leftSection={<Icon name="cross" />} onClick={() => setOpen('delete')}>
            Delete
          </Button>
        </Group>
      </Group>
      <Text className="break">
        {kinds[endpoint.kind]} · {endpoint.url}
      </Text>
      <Text size="sm" c="dimmed" className="break">
        <EndpointEvents endpoint={endpoint} /> · <EndpointHealth endpoint={endpoint} />
      </Text>
      <EndpointAlert endpoint={endpoint} />
      <WebhookDeliveries endpoint={endpoint} />
      {open === 'edit' && <EditWebhookDialog endpoint={endpoint} onClose={close} />}
      {open === 'rotate' && (
        <RotateWebhookDialog endpoint={endpoint} onCreated={setCreated} onClose={close} />
      )}
      {open === 'delete' && <DeleteWebhookDialog endpoint={endpoint} onClose={close} />}
      {created !== null && <WebhookSecret created={created} onClose={() => setCreated(null)} />}
    </>
  );
}

function SendTest({ endpoint: { id, state } }: { readonly endpoint: WebhookEndpoint }) {
  const sending = useMutation({ mutationFn: () => call('sendTestWebhook', { endpointId: id }) });
  return (
    <>
      <Button
        variant="default"
        loading={sending.isPending}
        disabled={state === 'disabled'}
        onClick={() => sending.mutate()}
      >
        Send test event
      </Button>
      {sending.error !== null && <ErrorAlert error={sending.error} />}
    </>
  );
}

function EndpointAlert({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { disabledReason, failingSince, lastFailure } = endpoint;
  if (disabledReason !== null)
    return (
      <Alert color="red" variant="outline" icon={<Icon name="pause" />} title="This endpoint is disabled">
        {disabledReason} To enable the endpoint again, edit it. You can then resend the failed deliveries.
      </Alert>
    );
  if (failingSince === null) return null;
  return (
    <Alert
      color="orange"
      variant="outline"
      icon={<Icon name="warning" />}
      title="This endpoint does not accept events"
    >
      Last failure: {lastFailure}. Signalbox retries automatically.
    </Alert>
  );
}
