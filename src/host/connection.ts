// How an organization's host is reached, and with which credentials. Adapters find both here and nowhere
// else.

import type { Clock } from '#base/clock.ts';
import type { OrganizationId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import type { ContentUse } from '#core/content-budget.ts';

export type Credentials =
  /** A token of an account. */
  | { readonly kind: 'token'; readonly token: string }
  /** An OAuth application that acts for a user. The tokens are renewed as they expire. */
  | {
      readonly kind: 'oauth';
      readonly clientId: string;
      readonly clientSecret: string;
      readonly accessToken: string;
      readonly refreshToken: string;
      /** Milliseconds. */
      readonly expiresAt: number;
    }
  | {
      readonly kind: 'github-app';
      readonly appId: number;
      /** PEM. */
      readonly privateKey: string;
      /** Null: the App is not installed yet. */
      readonly installationId: number | null;
      /** Other accounts of the organization where the same App is installed. */
      readonly moreInstallationIds?: readonly number[];
    };

/** The credentials of an App that is installed on one account, on several, or on none so far. */
export function githubAppCredentials(app: {
  readonly appId: number;
  readonly installationIds: readonly number[];
  readonly privateKey: string;
}): Credentials {
  const { appId, privateKey } = app;
  const [installationId = null, ...more] = app.installationIds;
  const others = more.length === 0 ? {} : { moreInstallationIds: more };
  return { kind: 'github-app', appId, installationId, ...others, privateKey };
}

/** Every installation that the connection uses. */
export const listInstallationIds = ({
  installationId,
  moreInstallationIds = [],
}: Extract<Credentials, { readonly kind: 'github-app' }>): readonly number[] =>
  installationId === null ? [] : [installationId, ...moreInstallationIds];

export type ConnectionWithCredentials = {
  readonly id: string;
  readonly organizationId: OrganizationId;
  /** As repositories name it, in lower case: `github.com`. */
  readonly host: string;
  /** Its URL, without a trailing slash: `https://github.com`. */
  readonly url: string;
  readonly credentials: Credentials;
};

export type Connections = {
  /** Null: the organization is not connected to this host. */
  readonly find: (organizationId: OrganizationId, host: string) => Promise<ConnectionWithCredentials | null>;
  /** Stores renewed credentials. */
  readonly save: (connection: ConnectionWithCredentials, credentials: Credentials) => Promise<void>;
};

/** Where the Git host of a connection sends its webhooks. */
export const hookUrl = (publicUrl: string, cellName: string, connectionId: string): string =>
  `${publicUrl}/hooks/${cellName}_${connectionId}`;

/** The URL of a connection, and those of connections that share the webhook of its App. */
export const hookUrls = (
  publicUrl: string,
  cellName: string,
  { id, sharing = [] }: { readonly id: string; readonly sharing?: readonly string[] },
): readonly [own: string, ...sharing: string[]] => [
  hookUrl(publicUrl, cellName, id),
  ...sharing.map((other) => hookUrl(publicUrl, cellName, other)),
];

/** What all processes together may still write to a host that limits writes. */
export type ContentBudget = {
  /** Null: the write is granted. Otherwise the milliseconds until there may be room. */
  readonly take: (
    budget: string,
    request: { readonly at: Date; readonly count: number; readonly isLanding: boolean },
  ) => Promise<number | null>;
  /** Writes within the last hour and the last minute. */
  readonly used: (budget: string, at: Date) => Promise<ContentUse>;
};

/** What the adapter of a host is created from. */
export type AdapterOptions = {
  readonly host: string;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: ContentBudget;
};
