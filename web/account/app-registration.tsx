// Registering a GitHub App without copying anything: the browser takes a form to GitHub, comes back with a code, goes to
// GitHub again to install the App, and comes back once more.

import { Alert, Anchor, Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { HostConnection } from '#contract/host-connection.ts';
import { call } from '../api/api.ts';
import { queryClient } from '../api/query.ts';
import { Icon } from '../component/icon.tsx';
import { ErrorAlert, Loading } from '../component/query-result.tsx';

export type GitHostsSearch = {
  /** What GitHub adds to the URL when it sends the browser back. */
  readonly code?: string;
  readonly state?: string;
  readonly setup_action?: string;
  /** The dialog that connects a Git host is open. */
  readonly connect?: true;
};

/** Who is to own the App; null: the person who registers it. */
export type AppOwner = string | null;

export function AppOwnerFields({
  host,
  owner,
  onChange,
}: {
  readonly host: string;
  readonly owner: AppOwner;
  readonly onChange: (owner: AppOwner) => void;
}) {
  return (
    <Stack gap="xs">
      <Text size="sm">
        {host} shows the permissions, and you confirm them there. Then you choose the repositories on which
        the App is installed. You copy nothing.
      </Text>
      <SegmentedControl
        aria-label="Owner of the repositories"
        data={[
          { value: 'organization', label: 'An organization' },
          { value: 'person', label: 'My own account' },
        ]}
        value={owner === null ? 'person' : 'organization'}
        onChange={(value) => onChange(value === 'person' ? null : '')}
      />
      {owner !== null && (
        <TextInput
          label={`Organization at ${host}`}
          description="It owns the repositories. You have to be one of its owners."
          placeholder="acme"
          required
          value={owner}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Stack>
  );
}

/** Leaves the dashboard: the promise never settles. */
export async function goToRegistration(url: string, owner: AppOwner): Promise<never> {
  const { action, manifest } = await call('beginAppRegistration', {
    kind: 'github',
    url,
    ...(owner === null ? {} : { owner: owner.trim() }),
  });
  const form = document.createElement('form');
  form.method = 'post';
  form.action = action;
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = 'manifest';
  field.value = manifest;
  form.append(field);
  document.body.append(form);
  form.submit();
  return new Promise(() => undefined);
}

type Access = ResponseOf<'getHostAccess'>;

export const accessKey = (connectionId: string): readonly string[] => ['git-hosts', connectionId];

async function takeInstallations(connectionId: string, installationIds?: readonly number[]): Promise<void> {
  const { access } = await call('useInstallations', {
    connectionId,
    ...(installationIds === undefined ? {} : { installationIds: [...installationIds] }),
  });
  queryClient.setQueryData(accessKey(connectionId), access);
}

/** Continues where GitHub sent the browser back. */
export function AppReturn({
  search: { code, state, setup_action: installed },
  connections,
  onInstalled,
}: {
  readonly search: GitHostsSearch;
  readonly connections: readonly HostConnection[];
  readonly onInstalled: () => void;
}) {
  const navigate = useNavigate();
  const goOn = useMutation({
    mutationFn: async () => {
      if (code !== undefined && state !== undefined) {
        const { installUrl } = await call('finishAppRegistration', { code, state });
        // The code works once: a page that is loaded again must not send it again.
        await navigate({ to: '/git-hosts', search: {}, replace: true });
        globalThis.location.assign(installUrl);
        return;
      }
      if (installed === undefined) return;
      const ofApps = connections.filter(({ kind }) => kind === 'github');
      await Promise.all(ofApps.map(({ id }) => takeInstallations(id)));
      onInstalled();
      await navigate({ to: '/git-hosts', search: {}, replace: true });
    },
  });
  const isBegun = useRef(false);
  const { mutate } = goOn;
  useEffect(() => {
    if (isBegun.current) return;
    isBegun.current = true;
    mutate();
  }, [mutate]);
  if (goOn.error !== null)
    return (
      <>
        <ErrorAlert error={goOn.error} />
        <Group>
          <Button
            onClick={() => void navigate({ to: '/git-hosts', search: { connect: true }, replace: true })}
          >
            Start over
          </Button>
        </Group>
      </>
    );
  return <Loading what={code === undefined ? 'Finding where the App is installed' : 'Connecting the App'} />;
}

/** What is still to do with an App, and where else it is installed. */
export function AppInstallations({
  connection: { id, host },
  app,
}: {
  readonly connection: HostConnection;
  readonly app: NonNullable<Access['app']>;
}) {
  const use = useMutation({ mutationFn: (ids?: readonly number[]) => takeInstallations(id, ids) });
  const used = app.installations.filter(({ isUsed }) => isUsed).map((installation) => installation.id);
  const others = app.installations.filter(({ isUsed }) => !isUsed);
  return (
    <>
      {use.error !== null && <ErrorAlert error={use.error} />}
      {used.length === 0 && (
        <Alert color="blue" variant="outline" icon={<Icon name="link" />} title="Install the App">
          <Stack gap="xs">
            <Text size="sm">
              Choose at {host} the repositories that Signalbox may read and merge. {host} leads you back here.
            </Text>
            <Group gap="xs">
              <Button component="a" size="xs" href={app.installUrl}>
                Install it at {host}
              </Button>
              <Button
                variant="default"
                size="xs"
                loading={use.isPending}
                onClick={() => use.mutate(undefined)}
              >
                It is installed
              </Button>
            </Group>
          </Stack>
        </Alert>
      )}
      {used.length > 0 && (
        <Text size="sm">
          <Anchor href={app.installUrl}>Install the App on more repositories</Anchor>
        </Text>
      )}
      {others.map(({ id: other, account }) => (
        <Group key={other} justify="space-between">
          <Text size="sm" className="break">
            The App is also installed on {account}, which this connection does not use.
          </Text>
          <Button
            variant="default"
            size="xs"
            loading={use.isPending}
            onClick={() => use.mutate([...used, other])}
          >
            Use {account} too
          </Button>
        </Group>
      ))}
    </>
  );
}
