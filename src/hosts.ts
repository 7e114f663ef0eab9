// Which host serves which name: adapters meet the database here and nowhere else.

import { join, resolve } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Cell } from '#db/cell.ts';
import { ensureSandboxConnection } from '#db/organization-store.ts';
import * as ci from '#db/sandbox-ci-store.ts';
import * as pulls from '#db/sandbox-store.ts';
import type { HostFor } from '#host/host.ts';
import { createSandboxHost } from '#host/sandbox/host.ts';
import type { SandboxStore } from '#host/sandbox/store.ts';

type HostsOptions = {
  readonly sandbox: boolean;
  readonly sandboxScripts: boolean;
  readonly dataDir: string;
  /** Where webhooks of the sandbox go; null: what they would tell is recorded directly. */
  readonly publicUrl: string | null;
  readonly clock: Clock;
  readonly log: Log;
};

/** With the sandbox on, it serves every host name that is not configured. */
export function hostsOf(options: HostsOptions, cells: readonly Cell[]): HostFor {
  const { publicUrl, clock, log, sandboxScripts: scripts } = options;
  const sandboxes = new Map(
    cells.map((cell) => {
      const folder = join(resolve(options.dataDir), 'sandbox', cell.name);
      const store = sandboxStoreOf(cell);
      return [
        cell.name,
        createSandboxHost({ store, folder, cellName: cell.name, publicUrl, scripts, clock, log }),
      ];
    }),
  );
  return (cellName) => (options.sandbox ? (sandboxes.get(cellName) ?? null) : null);
}

function sandboxStoreOf(cell: Cell): SandboxStore {
  const { db, reader } = cell;
  return {
    find: ({ id }, number) => pulls.findSandboxPullRequest(reader, id, number),
    insert: ({ id }, pullRequest) => pulls.insertSandboxPullRequest(db, id, pullRequest),
    save: ({ id }, pullRequest) => pulls.saveSandboxPullRequest(db, id, pullRequest),
    patch: ({ id }, number, patch) => pulls.patchSandboxPullRequest(db, id, number, patch),
    listOpen: ({ id }) => pulls.listOpenSandboxPullRequests(reader, id),
    listUnwritten: ({ id }) => pulls.listUnwrittenPullRequests(reader, id),
    markWritten: ({ id }, written) => pulls.markPullRequestsWritten(db, id, written),
    forgetWritten: ({ id }) => pulls.forgetWrittenPullRequests(db, id),
    markContained: ({ id }, branch, shas, mergeSha) =>
      pulls.markContainedPullRequests(db, id, branch, shas, mergeSha),
    moveHeads: ({ id }, branch, sha) => pulls.moveSandboxHeads(db, id, branch, sha),
    findSettings: ({ id }) => ci.findSandboxSettings(reader, id),
    saveSettings: ({ id }, settings) => ci.saveSandboxSettings(db, id, settings),
    listChecks: ({ id }, sha) => ci.listSandboxChecks(reader, id, sha),
    saveCheck: ({ id }, sha, check) => ci.saveSandboxCheck(db, id, sha, check),
    startCi: ({ id }, start) => ci.startSandboxCi(cell, id, start),
    findCi: ({ id }, key) => ci.findSandboxCi(reader, id, key),
    listCi: ({ id }, sha) => ci.listSandboxCi(reader, id, sha),
    markCiRunning: ({ id }, key) => ci.markSandboxCiRunning(db, id, key),
    endCi: ({ id }, end) => ci.endSandboxCi(cell, id, end),
    findTestRunSha: ({ id }, number) => ci.findTestRunSha(reader, id, number),
    connection: (organizationId) => ensureSandboxConnection(db, organizationId),
    record: (organizationId, events) => recordHostEvents(cell, organizationId, events),
  };
}
