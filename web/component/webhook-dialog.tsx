// Making an endpoint, showing its secret once, changing it, and ending it.

import { MultiSelect, Select, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebhookEndpoint } from '#contract/webhook.ts';
import { webhookTypes } from '#contract/webhook-event.ts';
import { call } from '../api.ts';
import { queuesQuery } from '../query.ts';
import { Dialog } from './dialog.tsx';
import { SecretOnce } from './secret-once.tsx';

export type MadeSecret = { readonly name: string; readonly secret: string };

const kinds = [
  { value: 'webhook', label: 'A program: signed webhook' },
  { value: 'slack', label: 'A channel of Slack' },
  { value: 'teams', label: 'A channel of Teams' },
];

const addressHelp = {
  webhook: 'Where events go, with https://.',
  slack: 'The address of an incoming webhook of Slack. It is not shown again.',
  teams: 'The address of a workflow that is started by a webhook request. It is not shown again.',
} as const;

type Kind = WebhookEndpoint['kind'];
type Limits = { readonly eventTypes: string[]; readonly repositories: string[] };

const pathOf = ({
  host,
  owner,
  name,
}: {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}) => `${host}/${owner}/${name}`;

/** A name is the last part, a host the first: owners may hold slashes. */
function repositoryOf(path: string) {
  const parts = path.split('/');
  return { host: parts[0]!, owner: parts.slice(1, -1).join('/'), name: parts.at(-1)! };
}

type LimitFieldsProps = { readonly limits: Limits; readonly onChange: (limits: Limits) => void };

function LimitFields({ limits, onChange }: LimitFieldsProps) {
  const { data = [] } = useQuery(queuesQuery);
  const known = [...new Set([...data.map(({ repo }) => pathOf(repo)), ...limits.repositories])];
  return (
    <>
      <MultiSelect
        label="Events"
        description="None chosen: all of them."
        data={[...webhookTypes]}
        value={limits.eventTypes}
        searchable
        onChange={(eventTypes) => onChange({ ...limits, eventTypes })}
      />
      <MultiSelect
        label="Repositories"
        description="None chosen: all of them."
        data={known}
        value={limits.repositories}
        searchable
        onChange={(repositories) => onChange({ ...limits, repositories })}
      />
    </>
  );
}

const repositoriesOf = ({ repositories }: Limits) =>
  repositories.length === 0 ? null : repositories.map(repositoryOf);

/** What people want to know without being asked; a program is sent everything. */
const chatTypes = [
  'pull_request.merged',
  'pull_request.failed',
  'pull_request.canceled',
  'test_case.status_changed',
];

type CreateWebhookDialogProps = {
  readonly onMade: (made: MadeSecret) => void;
  readonly onClose: () => void;
};

export function CreateWebhookDialog({ onMade, onClose }: CreateWebhookDialogProps) {
  const [kind, setKind] = useState<Kind>('webhook');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [limits, setLimits] = useState<Limits>({ eventTypes: [], repositories: [] });
  const choose = (value: string | null) => {
    const chosen = (value ?? 'webhook') as Kind;
    setKind(chosen);
    setLimits({ ...limits, eventTypes: chosen === 'webhook' ? [] : chatTypes });
  };
  return (
    <Dialog
      title="Add an endpoint"
      action="Add the endpoint"
      isReady={name.trim() !== '' && url.trim() !== ''}
      run={async () => {
        const { signingSecret } = await call('createWebhookEndpoint', {
          kind,
          name: name.trim(),
          url: url.trim(),
          eventTypes: limits.eventTypes,
          repositories: repositoriesOf(limits),
        });
        if (signingSecret !== null) onMade({ name: name.trim(), secret: signingSecret });
      }}
      done="The endpoint is added."
      onClose={onClose}
    >
      <Select label="Who is told" data={kinds} value={kind} allowDeselect={false} onChange={choose} />
      <TextInput
        label="Name"
        description="What it is for."
        required
        data-autofocus
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Address"
        description={addressHelp[kind]}
        required
        maxLength={2048}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <LimitFields limits={limits} onChange={setLimits} />
    </Dialog>
  );
}

type EndpointDialogProps = { readonly endpoint: WebhookEndpoint; readonly onClose: () => void };

export function EditWebhookDialog({ endpoint, onClose }: EndpointDialogProps) {
  const [name, setName] = useState(endpoint.name);
  const [url, setUrl] = useState('');
  const [isEnabled, setIsEnabled] = useState(endpoint.state !== 'disabled');
  const [limits, setLimits] = useState<Limits>({
    eventTypes: endpoint.eventTypes,
    repositories: endpoint.repositories?.map(pathOf) ?? [],
  });
  return (
    <Dialog
      title={`Edit ${endpoint.name}`}
      action="Save"
      isReady={name.trim() !== ''}
      run={() =>
        call('updateWebhookEndpoint', {
          endpointId: endpoint.id,
          name: name.trim(),
          eventTypes: limits.eventTypes,
          repositories: repositoriesOf(limits),
          enabled: isEnabled,
          ...(url.trim() === '' ? {} : { url: url.trim() }),
        })
      }
      done="The endpoint is changed."
      onClose={onClose}
    >
      <Switch
        label="Send events to it"
        checked={isEnabled}
        onChange={(event) => setIsEnabled(event.currentTarget.checked)}
      />
      <TextInput
        label="Name"
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="New address"
        description={`Empty: it stays ${endpoint.url}.`}
        maxLength={2048}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <LimitFields limits={limits} onChange={setLimits} />
    </Dialog>
  );
}

type RotateWebhookDialogProps = EndpointDialogProps & { readonly onMade: (made: MadeSecret) => void };

export const RotateWebhookDialog = ({ endpoint, onMade, onClose }: RotateWebhookDialogProps) => (
  <Dialog
    title={`A new secret for ${endpoint.name}?`}
    action="Make a new secret"
    run={async () => {
      const { signingSecret } = await call('rotateWebhookSecret', { endpointId: endpoint.id });
      onMade({ name: endpoint.name, secret: signingSecret });
    }}
    done="The new secret is made."
    onClose={onClose}
  >
    <Text>For 24 hours events are signed with both, so that you can change it where they are taken.</Text>
  </Dialog>
);

export const DeleteWebhookDialog = ({ endpoint, onClose }: EndpointDialogProps) => (
  <Dialog
    title={`Delete ${endpoint.name}?`}
    action="Delete the endpoint"
    isDangerous
    run={() => call('deleteWebhookEndpoint', { endpointId: endpoint.id })}
    done={`${endpoint.name} is deleted.`}
    onClose={onClose}
  >
    <Text>Nothing more is sent to it, and its secret is forgotten. This cannot be undone.</Text>
  </Dialog>
);

export const WebhookSecret = ({
  made,
  onClose,
}: {
  readonly made: MadeSecret;
  readonly onClose: () => void;
}) => (
  <SecretOnce
    title={`The secret of ${made.name}`}
    label="Secret"
    secret={made.secret}
    advice="Copy it now, to where events are taken: signatures are checked with it. It is not shown again."
    onClose={onClose}
  />
);
