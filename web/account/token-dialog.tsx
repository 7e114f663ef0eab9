// Dialogs that create an API token, show it once, and revoke it.

import { Alert, Checkbox, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Scope } from '#contract/common.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { ApiToken } from '#contract/token.ts';
import { call } from '../api/api.ts';
import { Dialog } from '../component/dialog.tsx';
import { Icon } from '../component/icon.tsx';
import { NewSecretDialog } from './new-secret-dialog.tsx';
import { parseRepositories } from './parse-repositories.ts';

export type CreatedToken = ResponseOf<'createToken'>;

const scopeChoices: readonly {
  readonly value: Scope;
  readonly label: string;
  readonly description: string;
}[] = [
  { value: 'read', label: 'read', description: 'Read everything in the organization.' },
  {
    value: 'submit',
    label: 'submit',
    description: 'Submit pull requests, cancel them, restart their tests, change their priority.',
  },
  {
    value: 'upload',
    label: 'upload',
    description:
      'Upload test reports. If this is the only scope, the reports are shown but never change the status of a test.',
  },
  {
    value: 'admin',
    label: 'admin',
    description: 'Change queues and settings, quarantine tests, create tokens with any scope.',
  },
];

const lifetimes = [
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: '0', label: 'never' },
];

type CreateTokenDialogProps = {
  readonly onCreated: (created: CreatedToken) => void;
  readonly onClose: () => void;
};

export function CreateTokenDialog({ onCreated, onClose }: CreateTokenDialogProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>(['read']);
  const [days, setDays] = useState('90');
  const [repositories, setRepositories] = useState('');
  const isUploadOnly = scopes.length === 1 && scopes[0] === 'upload';
  const allowedRepositories = parseRepositories(repositories);
  return (
    <Dialog
      title="Create an API token"
      action="Create the token"
      isReady={name.trim() !== '' && scopes.length > 0 && (!isUploadOnly || allowedRepositories.length > 0)}
      run={async () =>
        onCreated(
          await call('createToken', {
            name: name.trim(),
            scopes: scopes as Scope[],
            expiresInDays: days === '0' ? null : Number(days),
            ...(isUploadOnly && { repositories: allowedRepositories }),
          }),
        )
      }
      done="The token is created."
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Who or what uses the token."
        required
        data-autofocus
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Checkbox.Group label="Scopes" value={scopes} onChange={setScopes}>
        <Stack gap="xs" mt="xs">
          {scopeChoices.map((choice) => (
            <Checkbox key={choice.value} {...choice} />
          ))}
        </Stack>
      </Checkbox.Group>
      {isUploadOnly && (
        <TextInput
          label="Repositories"
          description="The repositories that the token may upload reports for: host/owner/name, separated by commas."
          required
          value={repositories}
          onChange={(event) => setRepositories(event.currentTarget.value)}
        />
      )}
      <Select
        label="Expires"
        data={lifetimes}
        value={days}
        allowDeselect={false}
        onChange={(value) => setDays(value ?? '90')}
      />
    </Dialog>
  );
}

export const TokenValue = ({
  created,
  onClose,
}: {
  readonly created: CreatedToken;
  readonly onClose: () => void;
}) => (
  <NewSecretDialog
    title={`Token ${created.token.name}`}
    label="Token"
    secret={created.value}
    advice="Copy the token now. You cannot see it again: Signalbox stores only its hash."
    onClose={onClose}
  />
);

export const RevokeTokenDialog = ({
  token,
  onClose,
}: {
  readonly token: ApiToken;
  readonly onClose: () => void;
}) => (
  <Dialog
    title={`Revoke the token ${token.name}?`}
    action="Revoke the token"
    isDangerous
    run={() => call('revokeToken', { tokenId: token.id })}
    done={`The token ${token.name} is revoked.`}
    onClose={onClose}
  >
    <Text>
      {token.identity === undefined
        ? 'Programs that use this token are refused from their next call on, and people who signed in with it are signed out.'
        : 'CI jobs that it lets in are refused from their next call on.'}{' '}
      This cannot be undone.
    </Text>
    {token.isCaller && (
      <Alert color="orange" variant="outline" icon={<Icon name="warning" />} title="You are using this token">
        You are signed in with this token. If you revoke it, you have to sign in with another one.
      </Alert>
    )}
  </Dialog>
);
