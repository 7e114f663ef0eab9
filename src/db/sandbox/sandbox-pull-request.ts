// A pull request of the sandbox.

import type { PullRequest } from '#core/queue/model.ts';

/** A pull request as the sandbox keeps it. */
export type SandboxPullRequest = Omit<PullRequest, 'url' | 'state'> & {
  /** missing: the sandbox responds that there is no such pull request. */
  readonly state: PullRequest['state'] | 'missing';
  /** Counts the generated heads of the pull request. */
  readonly revision: number;
  /** The branch it was opened from; null: its head has no branch of its own. */
  readonly branch: string | null;
  /** The commit that merged it into its base. */
  readonly mergeSha: string | null;
  readonly labels: readonly string[];
  /** When it got its head; null: it was opened with it. */
  readonly headSince: Date | null;
  readonly labelChanges: SandboxLabelChanges;
};

/** The last change of each label, by its name; the instant is in milliseconds. */
export type SandboxLabelChanges = Readonly<
  Record<string, { readonly isOn: boolean; readonly by: string; readonly at: number }>
>;
