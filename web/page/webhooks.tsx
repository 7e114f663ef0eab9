import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookEndpoint } from '#contract/webhook.ts';
import { call } from '../api.ts';
import { Answer, Empty, Problem } from '../component/answer.tsx';
import { Icon } from '../component/icon.tsx';
import { Pill } from '../component/state.tsx';
import { Ago } from '../component/time.tsx';
import { WebhookDeliveries } from '../component/webhook-deliveries.tsx';
import {
  CreateWebhookDialog,
  DeleteWebhookDialog,
  EditWebhookDialog,
  RotateWebhookDialog,
  WebhookSecret,
  type MadeSecret,
} from '../component/webhook-dialog.tsx';
import { useMay } from '../query.ts';

const route = getRouteApi('/webhooks');

const looks = {
  active: { icon: 'check', word: 'Active', tone: 'good' },
  failing: { icon: 'warning', word: 'Failing', tone: 'warn' },
  disabled: { icon: 'pause', word: 'Disabled', tone: 'bad' },
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
          <Empty icon="shield" title="Webhooks are for admins">
            Ask an admin of your organization to have events sent to you.
          </Empty>
        </>
      ) : endpoint === undefined ? (
        <Webhooks />
      ) : (
        <OneEndpoint id={endpoint} />
      )}
    </Stack>
  );
}

function Webhooks() {
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<MadeSecret | null>(null);
  const endpoints = useQuery(endpointsQuery);
  return (
    <>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Webhooks
        </Title>
        <Button onClick={() => setIsMaking(true)}>Add endpoint</Button>
      </Group>
      <Text c="dimmed" maw={720}>
        Signalbox tells programs and chats what happens to pull requests and tests. What is not taken is sent
        again for 24 hours.
      </Text>
      <Answer query={endpoints} loading="Reading the endpoints">
        {({ endpoints: list }) =>
          list.length === 0 ? (
            <Empty icon="live" title="Nobody is told yet">
              Add an endpoint for a program of yours, or for a channel of Slack or Teams.
            </Empty>
          ) : (
            <ul className="plain">
              {list.map((endpoint) => (
                <EndpointRow key={endpoint.id} endpoint={endpoint} />
              ))}
            </ul>
          )
        }
      </Answer>
      {isMaking && <CreateWebhookDialog onMade={setMade} onClose={() => setIsMaking(false)} />}
      {made !== null && <WebhookSecret made={made} onClose={() => setMade(null)} />}
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
        <Wants endpoint={endpoint} /> · <Fares endpoint={endpoint} />
      </Text>
    </div>
    <div className="entry-state">
      <Pill {...looks[endpoint.state]} />
    </div>
  </li>
);

function Wants({ endpoint: { eventTypes, repositories } }: { readonly endpoint: WebhookEndpoint }) {
  const types = eventTypes.length === 0 ? 'all events' : eventTypes.join(', ');
  if (repositories === null) return types;
  return `${types} of ${repositories.map(({ owner, name }) => `${owner}/${name}`).join(', ')}`;
}

function Fares({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { lastSuccessAt, failingSince, pending } = endpoint;
  const waiting = pending === 0 ? '' : ` · ${pending} waiting`;
  if (failingSince !== null)
    return (
      <>
        nothing taken since <Ago at={failingSince} />
        {waiting}
      </>
    );
  if (lastSuccessAt === null) return `nothing sent yet${waiting}`;
  return (
    <>
      last taken <Ago at={lastSuccessAt} />
      {waiting}
    </>
  );
}

type OpenDialog = 'edit' | 'rotate' | 'delete' | null;

function OneEndpoint({ id }: { readonly id: string }) {
  const endpoints = useQuery(endpointsQuery);
  return (
    <Answer query={endpoints} loading="Reading the endpoint">
      {({ endpoints: list }) => {
        const endpoint = list.find((each) => each.id === id);
        if (endpoint !== undefined) return <Endpoint endpoint={endpoint} />;
        return (
          <Empty icon="live" title="There is no such endpoint">
            <Link to="/webhooks">All endpoints</Link>
          </Empty>
        );
      }}
    </Answer>
  );
}

function Endpoint({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [open, setOpen] = useState<OpenDialog>(null);
  const [made, setMade] = useState<MadeSecret | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Link to="/webhooks">Webhooks</Link>
      <Group justify="space-between">
        <Group>
          <Title order={1} size="h2" className="break">
            {endpoint.name}
          </Title>
          <Pill {...looks[endpoint.state]} />
        </Group>
        <Group gap="xs">
          <SendTest endpoint={endpoint} />
          <Button variant="default" onClick={() => setOpen('edit')}>
            Edit
          </Button>
          {endpoint.kind === 'webhook' && (
            <Button variant="default" onClick={() => setOpen('rotate')}>
              New secret
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
        <Wants endpoint={endpoint} /> · <Fares endpoint={endpoint} />
      </Text>
      <Trouble endpoint={endpoint} />
      <WebhookDeliveries endpoint={endpoint} />
      {open === 'edit' && <EditWebhookDialog endpoint={endpoint} onClose={close} />}
      {open === 'rotate' && <RotateWebhookDialog endpoint={endpoint} onMade={setMade} onClose={close} />}
      {open === 'delete' && <DeleteWebhookDialog endpoint={endpoint} onClose={close} />}
      {made !== null && <WebhookSecret made={made} onClose={() => setMade(null)} />}
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
        Send a test
      </Button>
      {sending.error !== null && <Problem error={sending.error} />}
    </>
  );
}

function Trouble({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { disabledReason, failingSince, lastFailure } = endpoint;
  if (disabledReason !== null)
    return (
      <Alert color="red" variant="outline" icon={<Icon name="pause" />} title="Nothing is sent to it">
        {disabledReason} Edit it to enable it again; what was given up can then be sent again.
      </Alert>
    );
  if (failingSince === null) return null;
  return (
    <Alert color="orange" variant="outline" icon={<Icon name="warning" />} title="It does not take events">
      The last time: {lastFailure}. It is tried again by itself.
    </Alert>
  );
}
