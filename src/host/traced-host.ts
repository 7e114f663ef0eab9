// A host whose calls are spans, for traces.

import { traced } from '#base/trace.ts';
import type { Host } from './host.ts';

const calls = [
  'readPullRequest',
  'readApprovals',
  'readChecks',
  'readRequiredChecks',
  'remoteOf',
  'afterPush',
  'markMerged',
  'headBranchOf',
  'closePullRequest',
  'merge',
  'ensureWebhook',
  'findRepository',
  'openTestPullRequest',
  'proposeFiles',
  'editorUrl',
  'writeComment',
  'writeIssue',
  'writeCheck',
  'changeLabels',
  'permissionOf',
  'readLabel',
  'headSince',
  'readPerson',
  'readCommentsAndLabels',
  'inspect',
  'readAccess',
  'readRules',
  'stopRuns',
  'rerunFailedJobs',
] as const satisfies readonly (keyof Host)[];

/** Calls that only some hosts have. */
const someCalls = [
  'readPullRequests',
  'readChecksOf',
  'writeStatus',
] as const satisfies readonly (keyof Host)[];

type HostMethod = (...args: readonly unknown[]) => Promise<unknown>;

/** The name is the host's, as repositories name it. */
export function tracedHost<Kind extends Host>(host: Kind, name: string): Kind {
  const has = (operation: keyof Host) => host[operation] !== undefined;
  const wrapped = [...calls, ...someCalls.filter(has)].map((operation) => {
    const begin = {
      name: `host ${operation}`,
      kind: 'client',
      attributes: { 'server.address': name, 'signalbox.host.kind': host.kind },
    } as const;
    const call = host[operation] as HostMethod;
    return [operation, (...args: readonly unknown[]) => traced(begin, () => call(...args))] as const;
  });
  return { ...host, ...Object.fromEntries(wrapped) };
}
