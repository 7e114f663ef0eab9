// Dialogs that connect a Git host, replace the credentials of a connection, and remove it.

import {
  Anchor,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import type { RequestOf } from '#contract/endpoint/endpoint.ts';
import type { HostConnection } from '#contract/host-connection.ts';
import { call } from '../api/api.ts';
import { Dialog } from '../component/dialog.tsx';
import { type AppOwner, AppOwnerFields, goToRegistration } from './app-registration.tsx';

type ChosenKind = 'gitea' | 'github';
type TypedCredentials = RequestOf<'connectHost'>['credentials'];

/** Hosts whose kind is known by their name. */
const knownKinds: Readonly<Record<string, ChosenKind>> = {
  'github.com': 'github',
  'gitea.com': 'gitea',
  'codeberg.org': 'gitea',
};

const isChosenKind = (kind: string | undefined): kind is ChosenKind => kind === 'github' || kind === 'gitea';

const parseNumbers = (text: string): number[] =>
  text
    .split(',')
    .map((part) => Number(part.trim()))
    .filter((number) => Number.isSafeInteger(number) && number > 0);

/** What was typed about a GitHub App. */
type TypedApp = { readonly id: string; readonly installations: string; readonly key: string };

/** Null: something is missing. */
function readApp({ id, installations, key }: TypedApp): TypedCredentials | null {
  const [appId] = parseNumbers(id);
  const installationIds = parseNumbers(installations);
  return appId === undefined || installationIds.length === 0 || key.trim() === ''
    ? null
    : { kind: 'github-app', appId, installationIds, privateKey: key };
}

const readToken = (token: string): TypedCredentials | null =>
  token.trim() === '' ? null : { kind: 'token', token: token.trim() };

/** A new App is registered at GitHub, with nothing to type. */
type ConnectWay = 'new-app' | TypedCredentials['kind'];

type ConnectHostDialogProps = {
  /** The hosts to choose from. */
  readonly urls: readonly string[];
  /** Of a connection that there is. */
  readonly kind?: string;
  readonly onConnected?: () => void;
  readonly onClose: () => void;
};

export function ConnectHostDialog({ urls, kind: given, onConnected, onClose }: ConnectHostDialogProps) {
  const [url, setUrl] = useState(urls[0] ?? '');
  const [chosen, setChosen] = useState<ChosenKind>('gitea');
  const [token, setToken] = useState('');
  const [app, setApp] = useState<TypedApp>({ id: '', installations: '', key: '' });
  const [way, setWay] = useState<ConnectWay>(given === undefined ? 'new-app' : 'github-app');
  const [owner, setOwner] = useState<AppOwner>('');
  const known = isChosenKind(given) ? given : knownKinds[new URL(url).host];
  const kind = known ?? chosen;
  const chosenWay = kind === 'github' ? way : 'token';
  const isNewApp = chosenWay === 'new-app';
  const credentials = chosenWay === 'github-app' ? readApp(app) : readToken(token);
  const { host } = new URL(url);
  const run = async () => {
    if (isNewApp) await goToRegistration(url, owner);
    if (credentials === null) return;
    await call('connectHost', { kind, url, credentials });
    onConnected?.();
  };
  return (
    <Dialog
      title={given === undefined ? 'Connect a Git host' : `Replace the credentials of ${host}`}
      action={isNewApp ? `Continue at ${host}` : given === undefined ? 'Connect' : 'Replace'}
      isReady={isNewApp ? owner === null || owner.trim() !== '' : credentials !== null}
      run={run}
      done={`${host} is connected.`}
      onClose={onClose}
    >
      {given === undefined && (
        <Select
          label="Git host"
          description="The operator of Signalbox can add others (SIGNALBOX_GIT_HOSTS)."
          data={urls.map((each) => ({ value: each, label: new URL(each).host }))}
          value={url}
          allowDeselect={false}
          onChange={(value) => setUrl(value ?? url)}
        />
      )}
      {known === undefined && (
        <SegmentedControl
          aria-label="Kind of Git host"
          data={[
            { value: 'gitea', label: 'Gitea or Forgejo' },
            { value: 'github', label: 'GitHub' },
          ]}
          value={chosen}
          onChange={(value) => setChosen(value)}
        />
      )}
      {kind === 'github' && (
        <SegmentedControl
          aria-label="Credentials"
          data={[
            ...(given === undefined ? [{ value: 'new-app' as const, label: 'New App' }] : []),
            { value: 'github-app', label: given === undefined ? 'Existing App' : 'GitHub App' },
            { value: 'token', label: 'Token of an account' },
          ]}
          value={way}
          onChange={(value) => setWay(value)}
        />
      )}
      {isNewApp && <AppOwnerFields host={host} owner={owner} onChange={setOwner} />}
      {chosenWay === 'github-app' && <AppFields app={app} onChange={setApp} />}
      {chosenWay === 'token' && <TokenFields url={url} kind={kind} token={token} onChange={setToken} />}
    </Dialog>
  );
}

const AppFields = ({
  app,
  onChange,
}: {
  readonly app: TypedApp;
  readonly onChange: (app: TypedApp) => void;
}) => (
  <Stack gap="xs">
    <TextInput
      label="App ID"
      description="At the top of the settings page of the App."
      required
      inputMode="numeric"
      value={app.id}
      onChange={(event) => onChange({ ...app, id: event.currentTarget.value })}
    />
    <TextInput
      label="Installation ID"
      description="The number at the end of the URL of the installation’s page; of several, separated by commas."
      required
      value={app.installations}
      onChange={(event) => onChange({ ...app, installations: event.currentTarget.value })}
    />
    <Textarea
      label="Private key"
      description="The content of the .pem file that GitHub made."
      required
      autosize
      minRows={3}
      maxRows={6}
      value={app.key}
      onChange={(event) => onChange({ ...app, key: event.currentTarget.value })}
    />
  </Stack>
);

type TokenFieldsProps = {
  readonly url: string;
  readonly kind: ChosenKind;
  readonly token: string;
  readonly onChange: (token: string) => void;
};

const TokenFields = ({ url, kind, token, onChange }: TokenFieldsProps) => (
  <>
    {kind === 'gitea' && (
      <Text size="sm">
        Create a token{' '}
        <Anchor href={`${url}/user/settings/applications`} target="_blank" rel="noreferrer">
          in the settings of the account
        </Anchor>{' '}
        that Signalbox is to act as, with the scopes read:user, write:repository and write:issue. The account
        needs administrator access to the repositories.
      </Text>
    )}
    <PasswordInput
      label="Token"
      required
      autoComplete="off"
      value={token}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  </>
);

export const DisconnectHostDialog = ({
  connection: { id, host },
  onClose,
}: {
  readonly connection: HostConnection;
  readonly onClose: () => void;
}) => (
  <Dialog
    title={`Disconnect ${host}?`}
    action="Disconnect"
    isDangerous
    run={() => call('deleteHostConnection', { connectionId: id })}
    done={`${host} is disconnected.`}
    onClose={onClose}
  >
    <Text>
      Signalbox deletes the credentials. The queues of its repositories stop until the host is connected
      again. Revoke the token, or uninstall the App, at {host}.
    </Text>
  </Dialog>
);
