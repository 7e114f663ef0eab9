// Registering an App of the organization at a Git host, and the installations that its connection uses. No value is copied
// by a person: the browser takes a form to the Git host and comes back with a code (host/app-registration.ts).

import { appError } from '#base/error.ts';
import { minuteMs } from '#base/duration.ts';
import { type ConnectionRow, listConnections } from '#db/account/connection-change-store.ts';
import { openConnection } from '#db/account/connection-store.ts';
import { seal, unseal } from '#db/seal.ts';
import { type Credentials, githubAppCredentials, listInstallationIds } from '#host/connection.ts';
import { hostKinds, isHostKind } from '#host/kinds.ts';
import { z } from 'zod';
import type { Context, Handlers } from '../endpoint/context.ts';
import {
  asConnectError,
  connect,
  type GitHost,
  presentAccess,
  presentConnection,
  readAccess,
  requireConnectable,
  requireConnection,
  storeCredentials,
} from '../endpoint/git-host.ts';
import { requireSecretKey } from '../guard/secret-key.ts';

/** The Git host's code is valid for an hour. */
const registrationMs = 60 * minuteMs;

/** What comes back with the browser: encrypted, so that no one can begin a registration for someone else. */
const State = z.object({ kind: z.string(), url: z.string(), until: z.int() });

const stateOwner = ({ scope, actor }: Context): string =>
  `app registration ${scope.principal.organizationId} ${actor}`;

function readState(context: Context, text: string): z.output<typeof State> {
  const opened = unseal(requireSecretKey(context), stateOwner(context), Buffer.from(text, 'base64url'));
  const state = opened === null ? null : State.parse(JSON.parse(opened));
  if (state !== null && state.until > context.now.getTime()) return state;
  throw appError('APP_REGISTRATION_UNKNOWN', {
    public:
      'This registration of an App was begun by someone else, or more than an hour ago. Start over on the page “Git hosts”.',
  });
}

async function requireNoConnection({ cell, scope }: Context, { name }: GitHost): Promise<void> {
  const rows = await listConnections(cell.reader, scope.principal.organizationId);
  if (rows.some((row) => row.host_key === name))
    throw appError('HOST_ALREADY_CONNECTED', {
      public: `The organization is connected to ${name} already. A new App would take its place before it is installed. Disconnect ${name} first, or replace its credentials.`,
    });
}

async function loadRegistration({ kind, name }: GitHost) {
  const load = 'loadRegistration' in hostKinds[kind] ? hostKinds[kind].loadRegistration : undefined;
  if (load !== undefined) return load();
  const message = `${hostKinds[kind].title} has no Apps. Connect ${name} with the token of an account.`;
  throw appError('VALIDATION_FAILED', { public: message, details: [{ path: 'kind', message }] });
}

/** What the organization is connected with, as it is stored. */
async function openCredentials(
  context: Context,
  connectionId: string,
): Promise<{
  readonly row: ConnectionRow;
  readonly host: GitHost;
  readonly credentials: Credentials | null;
}> {
  const key = requireSecretKey(context);
  const row = await requireConnection(context, connectionId);
  const { kind, url, host_key: name } = row;
  const { cell, scope } = context;
  const opened = await openConnection(cell.reader, key, scope.principal.organizationId, name);
  const text = opened?.credentials ?? null;
  if (!isHostKind(kind)) throw new Error(`no kind of Git host ${kind}`);
  return {
    row,
    host: { kind, url, name },
    credentials: text === null ? null : (JSON.parse(text) as Credentials),
  };
}

export const appRegistrationHandlers: Handlers<
  'beginAppRegistration' | 'finishAppRegistration' | 'useInstallations'
> = {
  beginAppRegistration: async (context, input) => {
    const key = requireSecretKey(context);
    const host = await requireConnectable(context, input);
    await requireNoConnection(context, host);
    const { describe } = await loadRegistration(host);
    const { kind, url } = host;
    const until = context.now.getTime() + registrationMs;
    const state = seal(key, stateOwner(context), JSON.stringify({ kind, url, until }));
    const { publicUrl } = context.deps.config;
    return describe({
      url,
      owner: input.owner ?? null,
      organization: context.scope.principal.organizationSlug,
      publicUrl,
      returnUrl: `${publicUrl}/app/git-hosts`,
      state: state.toString('base64url'),
    });
  },

  finishAppRegistration: async (context, { code, state }) => {
    const host = await requireConnectable(context, readState(context, state));
    await requireNoConnection(context, host);
    const { complete } = await loadRegistration(host);
    const { log } = context.deps;
    const { credentials, installUrl } = await complete({ url: host.url, log }, code).catch(
      (error: unknown) => {
        throw asConnectError(error, host.url);
      },
    );
    // Before anything that may fail: the Git host has given the key out for the only time.
    return { connection: await storeCredentials(context, host, credentials), installUrl };
  },

  useInstallations: async (context, { connectionId, installationIds }) => {
    const { row, host, credentials } = await openCredentials(context, connectionId);
    if (credentials?.kind !== 'github-app')
      throw appError('CREDENTIALS_REFUSED', {
        public: `Signalbox is not connected to ${host.name} with an App, or cannot read its key.`,
      });
    const { appId, privateKey } = credentials;
    const withInstallations = (ids: readonly number[]) =>
      githubAppCredentials({ appId, privateKey, installationIds: ids });
    // As if it used none: one that is gone must not keep others from taking its place.
    const { app } = await readAccess(context, host, withInstallations([]));
    const installations = app?.installations ?? [];
    const unknown = installationIds?.find((wanted) => !installations.some(({ id }) => id === wanted));
    if (unknown !== undefined)
      throw appError('CREDENTIALS_REFUSED', { public: `The App has no installation ${unknown}.` });
    const used = listInstallationIds(credentials);
    const wanted = installations
      .filter(({ id, isOwn }) => installationIds?.includes(id) ?? (isOwn || used.includes(id)))
      .map(({ id }) => id);
    const isSame = wanted.length === used.length && wanted.every((id) => used.includes(id));
    if (!isSame) return connect(context, host, withInstallations(wanted));
    return {
      connection: presentConnection(context, row),
      access: presentAccess(await readAccess(context, host, credentials)),
    };
  },
};
