// Which host serves which name: adapters meet the database here and nowhere else.

import { join, resolve } from 'node:path';
import { assert } from '#base/assert.ts';
import type { Clock } from '#base/clock.ts';
import type { OrganizationId } from '#base/id.ts';
import type { Log } from '#base/log.ts';
import { createShelf } from '#base/shelf.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Cell } from '#db/cell.ts';
import { ensureSandboxConnection, listHosts, openConnection, saveCredentials } from '#db/connection-store.ts';
import * as ci from '#db/sandbox-ci-store.ts';
import * as comments from '#db/sandbox-comment-store.ts';
import * as pulls from '#db/sandbox-store.ts';
import * as tests from '#db/sandbox-test-store.ts';
import type { AdapterOptions, Connections, Credentials, HostConnection } from '#host/connection.ts';
import { createGiteaHost } from '#host/gitea/host.ts';
import { createGithubHost } from '#host/github/host.ts';
import { type Host, HostError, type HostFor } from '#host/host.ts';
import { createSandboxHost } from '#host/sandbox/host.ts';
import type { SandboxStore } from '#host/sandbox/store.ts';
import { tracedHost } from '#host/traced-host.ts';

type HostsOptions = {
  readonly sandbox: boolean;
  readonly sandboxScripts: boolean;
  readonly dataDir: string;
  readonly secretKey: Buffer | null;
  /** Where webhooks of the sandbox go; null: what they would tell is recorded directly. */
  readonly publicUrl: string | null;
  readonly clock: Clock;
  readonly log: Log;
};

export type Hosts = {
  readonly hostFor: HostFor;
  /** Looks for hosts that were connected since. */
  readonly refresh: () => Promise<void>;
  readonly close: () => void;
};

/** Whoever connects a host does so in another process: it is served within this time. */
const refreshMs = 5_000;

/** Hosts that some organization is connected to; with the sandbox on, it serves every other name. */
export async function openHosts(options: HostsOptions, cells: readonly Cell[]): Promise<Hosts> {
  const { publicUrl, clock, log, sandboxScripts: scripts } = options;
  const served = cells.map((cell) => {
    const folder = join(resolve(options.dataDir), 'sandbox', cell.name);
    const store = sandboxStoreOf(cell);
    const sandbox = createSandboxHost({ store, folder, cellName: cell.name, publicUrl, scripts, clock, log });
    return { cell, sandbox: tracedHost(sandbox, 'sandbox'), connected: new Map<string, Host>() };
  });
  const refresh = async () => {
    for (const { cell, connected } of served)
      for (const { host, kind } of await listHosts(cell.reader)) {
        const adapter = adapters[kind];
        if (connected.has(host) || adapter === undefined) continue;
        const connections = connectionsOf(cell, options.secretKey);
        connected.set(host, tracedHost(adapter({ host, connections, clock, log }), host));
        log.info({ cell: cell.name, host, kind }, 'a host is connected');
      }
  };
  const refreshQuietly = () =>
    refresh().catch((error: unknown) => log.warn({ err: error }, 'could not look for connected hosts'));
  await refreshQuietly();
  const timer = setInterval(() => void refreshQuietly(), refreshMs);
  timer.unref();
  return {
    hostFor: (cellName, hostName) => {
      const found = served.find(({ cell }) => cell.name === cellName);
      if (found === undefined) return null;
      return found.connected.get(hostName.toLowerCase()) ?? (options.sandbox ? found.sandbox : null);
    },
    refresh,
    close: () => clearInterval(timer),
  };
}

const adapters: Partial<Record<string, (options: AdapterOptions) => Host>> = {
  gitea: createGiteaHost,
  github: createGithubHost,
};

/** Credentials are read and opened once in this time. */
const connectionKeptMs = 2_000;

function connectionsOf(cell: Cell, key: Buffer | null): Connections {
  const kept = createShelf<HostConnection | null>(() => performance.now(), connectionKeptMs);
  const read = async (organizationId: OrganizationId, host: string): Promise<HostConnection | null> => {
    const found = await openConnection(cell.reader, key ?? Buffer.alloc(32), organizationId, host);
    if (found === null) return null;
    if (found.credentials === null)
      throw new HostError(
        'forbidden',
        `What lets us into ${host} cannot be opened: set SIGNALBOX_SECRET_KEY to the key it was connected with, or connect it again.`,
      );
    // Sealed by us, so it is what we wrote.
    return { ...found, credentials: JSON.parse(found.credentials) as Credentials };
  };
  return {
    find: (organizationId, host) =>
      kept.recall(`${organizationId} ${host}`, () => read(organizationId, host)),
    save: async ({ id, organizationId, host }, credentials) => {
      assert(key !== null, 'renewed credentials were opened with a key');
      await saveCredentials(cell.db, key, id, JSON.stringify(credentials));
      kept.forget(`${organizationId} ${host}`);
    },
  };
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
    closeFrom: ({ id }, branch) => pulls.closeSandboxPullRequestsFrom(db, id, branch),
    findTest: ({ id }, branch) => tests.findSandboxTestPullRequest(reader, id, branch),
    insertTest: ({ id }, words) => tests.insertSandboxTestPullRequest(db, id, words),
    changeLabels: ({ id }, number, change) => pulls.changeSandboxLabels(db, id, number, change),
    listLabelled: ({ id }, label) => pulls.listLabelledSandboxPullRequests(reader, id, label),
    addReview: ({ id }, number, review) => pulls.addSandboxReview(db, id, number, review),
    listReviews: ({ id }, number) => pulls.listSandboxReviews(reader, id, number),
    insertComment: ({ id }, comment) => comments.insertSandboxComment(db, id, comment),
    editComment: ({ id }, comment) => comments.editSandboxComment(db, id, comment),
    deleteComment: ({ id }, number, comment) => comments.deleteSandboxComment(db, id, number, comment),
    findMarked: ({ id }, number, author, mark) =>
      comments.findMarkedSandboxComment(reader, id, number, author, mark),
    listComments: ({ id }, number) => comments.listSandboxComments(reader, id, number),
    listCommentsSince: ({ id }, since) => comments.listSandboxCommentsSince(reader, id, since),
    findSettings: ({ id }) => ci.findSandboxSettings(reader, id),
    saveSettings: ({ id }, settings) => ci.saveSandboxSettings(db, id, settings),
    listChecks: ({ id }, sha) => ci.listSandboxChecks(reader, id, sha),
    saveCheck: ({ id }, sha, check) => ci.saveSandboxCheck(db, id, sha, check),
    listCheckNames: ({ id }) => ci.listSandboxCheckNames(reader, id),
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
