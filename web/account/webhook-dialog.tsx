// Dialogs that create an endpoint, show its secret once, change it, and delete it.

import { MultiSelect, Select, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebhookEndpoint } from '#contract/webhook.ts';
import { webhookTypes } from '#contract/webhook-event.ts';
import { call } from '../api/api.ts';
import { queuesQuery } from '../api/query.ts';
import { Dialog } from '../component/dialog.tsx';
import { NewSecretDialog } from './new-secret-dialog.tsx';

export type CreatedSecret = { readonly name: string; readonly secret: string };

const kinds = [
  { value: 'webhook', label: 'Signed webhook' },
  { value: 'slack', label: 'Slack channel' },
  { value: 'teams', label: 'Teams channel' },
];

const urlHelp = {
  webhook: 'The https:// URL that receives the events.',
  slack: 'The URL of a Slack incoming webhook. You cannot see it again.',
  teams: 'The URL of a Teams workflow that a webhook request starts. You cannot see it again.',
} as const;

type WebhookKindChoice = WebhookEndpoint['kind'];
type WebhookLimits = { readonly eventTypes: string[]; readonly repositories: string[] };

const formatRepositoryPath = ({
  host,
  owner,
  name,
}: {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}) => `${host}/${owner}/${name}`;

/** The host is the first part and the name is the last: an owner may contain slashes. */
function parseRepositoryPath(path: string) {
  const parts = path.split('/');
  return { host: parts[0]!, owner: parts.slice(1, -1).join('/'), name: parts.at(-1)! };
}

type LimitFieldsProps = {
  readonly limits: WebhookLimits;
  readonly onChange: (limits: WebhookLimits) => void;
};

function LimitFields({ limits, onChange }: LimitFieldsProps) {
  const { data = [] } = useQuery(queuesQuery);
  const known = [...new Set([...data.map(({ repo }) => formatRepositoryPath(repo)), ...limits.repositories])];
  return (
    <>
      <MultiSelect
        label="Events"
        description="Leave empty for all events."
        data={[...webhookTypes]}
        value={limits.eventTypes}
        searchable
        onChange={(eventTypes) => onChange({ ...limits, eventTypes })}
      />
      <MultiSelect
        label="Repositories"
        description="Leave empty for all repositories."
        data={known}
        value={limits.repositories}
        searchable
        onChange={(repositories) => onChange({ ...limits, repositories })}
      />
    </>
  );
}

const parseRepositoryLimits = ({ repositories }: WebhookLimits) =>
  repositories.length === 0 ? null : repositories.map(parseRepositoryPath);

/** The events that people want in a chat; a program gets every type. */
const chatTypes = [
  'pull_request.merged',
  'pull_request.failed',
  'pull_request.canceled',
  'test_case.status_changed',
  'queue.halted',
  'queue.stalled',
  'queue.slow',
  'queue.recovered',
  'landing.mismatch',
];

type CreateWebhookDialogProps = {
  readonly onCreated: (created: CreatedSecret) => void;
  readonly onClose: () => void;
};

export function CreateWebhookDialog({ onCreated, onClose }: CreateWebhookDialogProps) {
  const [kind, setKind] = useState<WebhookKindChoice>('webhook');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [limits, setLimits] = useState<WebhookLimits>({ eventTypes: [], repositories: [] });
  const choose = (value: string | null) => {
    const chosen = (value ?? 'webhook') as WebhookKindChoice;
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
          repositories: parseRepositoryLimits(limits),
        });
        if (signingSecret !== null) onCreated({ name: name.trim(), secret: signingSecret });
      }}
      done="The endpoint is added."
      onClose={onClose}
    >
      <Select label="Kind" data={kinds} value={kind} allowDeselect={false} onChange={choose} />
      <TextInput
        label="Name"
        description="What the endpoint is for."
        required
        data-autofocus
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="URL"
        description={urlHelp[kind]}
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
  const [limits, setLimits] = useState<WebhookLimits>({
    eventTypes: endpoint.eventTypes,
    repositories: endpoint.repositories?.map(formatRepositoryPath) ?? [],
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
          repositories: parseRepositoryLimits(limits),
          enabled: isEnabled,
          ...(url.trim() === '' ? {} : { url: url.trim() }),
        })
      }
      done="The endpoint is changed."
      onClose={onClose}
    >
      <Switch
        label="Send events to this endpoint"
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
        label="New URL"
        description={`Leave empty to keep ${endpoint.url}.`}
        maxLength={2048}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <LimitFields limits={limits} onChange={setLimits} />
    </Dialog>
  );
}

type RotateWebhookDialogProps = EndpointDialogProps & {
  readonly onCreated: (created: CreatedSecret) => void;
};

export const RotateWebhookDialog = ({ endpoint, onCreated, onClose }: RotateWebhookDialogProps) => (
  <Dialog
    title={`Rotate the secret of ${endpoint.name}?`}
    action="Rotate the secret"
    run={async () => {
      const { signingSecret } = await call('rotateWebhookSecret', { endpointId: endpoint.id });
      onCreated({ name: endpoint.name, secret: signingSecret });
    }}
    done="The secret is rotated."
    onClose={onClose}
  >
    <Text>
      For 24 hours Signalbox signs events with both secrets, so that you can update the receiver in that time.
    </Text>
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
    <Text>
      Signalbox stops sending events to this endpoint and deletes its secret. This cannot be undone.
    </Text>
  </Dialog>
);

export const WebhookSecret = ({
  created,
  onClose,
}: {
  readonly created: CreatedSecret;
  readonly onClose: () => void;
}) => (
  <NewSecretDialog
    title={`Secret of ${created.name}`}
    label="Secret"
    secret={created.secret}
    advice="Copy the secret now and set it in the receiver, which verifies signatures with it. You cannot see it again."
    onClose={onClose}
  />
);
