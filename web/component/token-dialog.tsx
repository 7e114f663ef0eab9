// Making an API token, showing it once, and ending one.

import { Alert, Checkbox, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Scope } from '#contract/common.ts';
import type { ResponseOf } from '#contract/endpoint.ts';
import type { ApiToken } from '#contract/token.ts';
import { call } from '../api.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { SecretOnce } from './secret-once.tsx';

export type MadeToken = ResponseOf<'createToken'>;

const choices: readonly { readonly value: Scope; readonly label: string; readonly description: string }[] = [
  { value: 'read', label: 'read', description: 'Look at everything of the organization.' },
  {
    value: 'submit',
    label: 'submit',
    description: 'Submit pull requests, cancel them, restart their tests, change their priority.',
  },
  {
    value: 'upload',
    label: 'upload',
    description: 'Send test reports. With this scope alone they are shown, and judge no test.',
  },
  {
    value: 'admin',
    label: 'admin',
    description: 'Change queues and settings, quarantine tests, make tokens of any scope.',
  },
];

const spans = [
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: '0', label: 'never' },
];

/** `github.com/acme/widgets, …`; the owner may hold slashes. */
const repositoriesIn = (text: string) =>
  text.split(',').flatMap((typed) => {
    const [host = '', ...rest] = typed.trim().split('/');
    const name = rest.pop() ?? '';
    return host === '' || name === '' || rest.length === 0 ? [] : [{ host, owner: rest.join('/'), name }];
  });

type CreateTokenDialogProps = {
  readonly onMade: (made: MadeToken) => void;
  readonly onClose: () => void;
};

export function CreateTokenDialog({ onMade, onClose }: CreateTokenDialogProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>(['read']);
  const [days, setDays] = useState('90');
  const [repositories, setRepositories] = useState('');
  const isBound = scopes.length === 1 && scopes[0] === 'upload';
  const bound = repositoriesIn(repositories);
  return (
    <Dialog
      title="Create an API token"
      action="Create the token"
      isReady={name.trim() !== '' && scopes.length > 0 && (!isBound || bound.length > 0)}
      run={async () =>
        onMade(
          await call('createToken', {
            name: name.trim(),
            scopes: scopes as Scope[],
            expiresInDays: days === '0' ? null : Number(days),
            ...(isBound && { repositories: bound }),
          }),
        )
      }
      done="The token is made."
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Who or what it is for."
        required
        data-autofocus
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Checkbox.Group label="What it may do" value={scopes} onChange={setScopes}>
        <Stack gap="xs" mt="xs">
          {choices.map((choice) => (
            <Checkbox key={choice.value} {...choice} />
          ))}
        </Stack>
      </Checkbox.Group>
      {isBound && (
        <TextInput
          label="Repositories"
          description="What it may send reports for, as host/owner/name, with commas."
          required
          value={repositories}
          onChange={(event) => setRepositories(event.currentTarget.value)}
        />
      )}
      <Select
        label="It expires"
        data={spans}
        value={days}
        allowDeselect={false}
        onChange={(value) => setDays(value ?? '90')}
      />
    </Dialog>
  );
}

export const TokenValue = ({ made, onClose }: { readonly made: MadeToken; readonly onClose: () => void }) => (
  <SecretOnce
    title={`The token ${made.token.name}`}
    label="Token"
    secret={made.value}
    advice="Copy it now. It is not shown again: only its hash is kept."
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
      Whatever uses it is refused from its next call on, and who signed in with it is signed out. This cannot
      be undone.
    </Text>
    {token.isCaller && (
      <Alert color="orange" variant="outline" icon={<Icon name="warning" />} title="It is your own">
        You are signed in with this token, and will have to sign in with another.
      </Alert>
    )}
  </Dialog>
);
