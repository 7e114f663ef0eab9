// What a kind of Git host is to everything outside its folder: how an organization is connected to it, and how
// its adapter is loaded. kinds.ts has the table.

import type { AppRegistration } from './app-registration.ts';
import type { AdapterOptions, Credentials } from './connection.ts';
import type { Host } from './host.ts';

/** An option of `signalbox admin connect`. The value of a `file` option is what the file contains. */
type ConnectOption = { readonly value: 'file' | 'n'; readonly text: string };

export type ConnectMistake = { readonly mistake: string };

/** One way to give Signalbox access: the options that it takes, all of them together. */
export type AccessMethod = {
  readonly options: Readonly<Record<string, ConnectOption>>;
  /** The credentials from the values of the options, by their names. */
  readonly read: (values: Readonly<Record<string, string>>) => Credentials | ConnectMistake;
  /** More about the options, for the usage of the command. */
  readonly note?: string;
};

export type HostKind = {
  /** As people know it. */
  readonly title: string;
  readonly exampleUrl: string;
  /** Whether a host of this name is certainly of this kind. */
  readonly isKnownName: (hostName: string) => boolean;
  /** The ways to give Signalbox access, the recommended one first. */
  readonly access: readonly AccessMethod[];
  /** How an App of the organization's own is registered there; absent: such hosts have no Apps. */
  readonly loadRegistration?: () => Promise<AppRegistration>;
  /** Loads the adapter. The command line reads the table, and must not load the adapters with it. */
  readonly load: () => Promise<(options: AdapterOptions) => Host>;
};

/** The token of an account. */
export const tokenAccess: AccessMethod = {
  options: { 'token-file': { value: 'file', text: 'file with the token of the account' } },
  read: (values) => ({ kind: 'token', token: values['token-file']! }),
};
