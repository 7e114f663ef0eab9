// What the credentials of an organization are good for at a Git host.

import type { RegisteredApp } from './app-registration.ts';

export type HostAccess = {
  /** Product and version, such as `Gitea 1.26.0`. */
  readonly version: string;
  /** The account or the App that Signalbox acts as; null: the credentials may not read it. */
  readonly account: string | null;
  /** What the credentials lack, one sentence each with what to do. */
  readonly missing: readonly string[];
  /** Where Signalbox may write, by name. */
  readonly repositories: readonly {
    readonly owner: string;
    readonly name: string;
    readonly defaultBranch: string;
  }[];
  /** Null: Signalbox acts as an account, not as an App. */
  readonly app: RegisteredApp | null;
};

/** Repositories as GitHub and Gitea answer with them, by name. */
export const listReached = (
  found: readonly {
    readonly owner: { readonly login: string };
    readonly name: string;
    readonly default_branch: string;
  }[],
): HostAccess['repositories'] =>
  found
    .map(({ owner, name, default_branch: defaultBranch }) => ({ owner: owner.login, name, defaultBranch }))
    .toSorted((a, b) => `${a.owner}/${a.name}`.localeCompare(`${b.owner}/${b.name}`));
