// What a GitHub App of Signalbox may do, and which events GitHub sends it (GitHub docs, "Permissions required for GitHub Apps").

type AppPermission = {
  /** By GitHub's name in manifests and answers. */
  readonly name: string;
  /** As GitHub shows it. */
  readonly title: string;
  /** What Signalbox asks for. */
  readonly access: 'read' | 'write';
  /** The least with which a queue works; absent: it works without. */
  readonly needs?: 'read' | 'write';
};

export const appPermissions: readonly AppPermission[] = [
  { name: 'actions', title: 'Actions', access: 'write' },
  { name: 'administration', title: 'Administration', access: 'read' },
  { name: 'checks', title: 'Checks', access: 'write', needs: 'write' },
  { name: 'contents', title: 'Contents', access: 'write', needs: 'write' },
  { name: 'issues', title: 'Issues', access: 'write', needs: 'write' },
  { name: 'metadata', title: 'Metadata', access: 'read' },
  { name: 'pull_requests', title: 'Pull requests', access: 'write', needs: 'write' },
  { name: 'statuses', title: 'Commit statuses', access: 'write', needs: 'read' },
  { name: 'workflows', title: 'Workflows', access: 'write' },
];

export const appEvents: readonly string[] = [
  'check_run',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'pull_request_review_thread',
  'push',
  'repository',
  'status',
];

const asShown = { read: 'read-only', write: 'read and write' } as const;

/** What an installation with these permissions lacks, one sentence each. */
export const listMissing = (granted: Readonly<Record<string, string>>): readonly string[] =>
  appPermissions
    .filter(({ name, needs }) => needs !== undefined && granted[name] !== 'write' && granted[name] !== needs)
    .map(
      ({ title, needs }) =>
        `The App lacks the permission “${title}: ${asShown[needs!]}”. Add it under Permissions in the settings of the App, then accept it where the App is installed.`,
    );
