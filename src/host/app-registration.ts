// Registering an App of an organization's own at a Git host that has Apps.

import type { Log } from '#base/log.ts';
import type { Credentials } from './connection.ts';

/** What the App is to be called, and where people are sent back to. */
type WantedApp = {
  /** The URL of the Git host, without a slash at its end. */
  readonly url: string;
  /** The account that is to own the App, an organization there; null: the person who registers it. */
  readonly owner: string | null;
  /** Ours, for the name of the App. */
  readonly organization: string;
  readonly publicUrl: string;
  /** Where the Git host sends the browser after each step. */
  readonly returnUrl: string;
  /** Comes back unchanged. */
  readonly state: string;
};

export type AppRegistration = {
  /** The form with which the browser goes to the Git host: its action, and its field `manifest`. */
  readonly describe: (wanted: WantedApp) => { readonly action: string; readonly manifest: string };
  /** Exchanges the code that the browser came back with, which the Git host takes once. The App is installed nowhere yet. */
  readonly complete: (
    options: { readonly url: string; readonly log: Log; readonly timeoutMs?: number },
    code: string,
  ) => Promise<{
    readonly credentials: Credentials;
    /** Where people install it. */
    readonly installUrl: string;
  }>;
};

/** An App as its Git host knows it. */
export type RegisteredApp = {
  /** Where people install it. */
  readonly installUrl: string;
  readonly installations: readonly {
    readonly id: number;
    readonly account: string;
    /** It is on the account that owns the App. */
    readonly isOwn: boolean;
    /** The connection uses it. */
    readonly isUsed: boolean;
  }[];
};
