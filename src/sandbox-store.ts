// The tables behind the sandbox host of a cell.

import { recordHostEvents } from '#command/record-host-events.ts';
import type { Cell } from '#db/cell.ts';
import { ensureSandboxConnection } from '#db/connection-store.ts';
import * as ci from '#db/sandbox-ci-store.ts';
import * as comments from '#db/sandbox-comment-store.ts';
import * as pulls from '#db/sandbox-store.ts';
import * as tests from '#db/sandbox-test-store.ts';
import type { SandboxStore } from '#host/sandbox/store.ts';

export function createSandboxStore(cell: Cell): SandboxStore {
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
    moveHeads: ({ id }, branch, sha, at) => pulls.moveSandboxHeads(db, id, branch, sha, at),
    closeFrom: ({ id }, branch) => pulls.closeSandboxPullRequestsFrom(db, id, branch),
    findTest: ({ id }, branch) => tests.findSandboxTestPullRequest(reader, id, branch),
    insertTest: ({ id }, words) => tests.insertSandboxTestPullRequest(db, id, words),
    changeLabels: ({ id }, number, change, act) => pulls.changeSandboxLabels(db, id, number, change, act),
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
    stopCi: ({ id }, key) => ci.stopSandboxCi(cell, id, key),
    endCi: ({ id }, end) => ci.endSandboxCi(cell, id, end),
    findTestRunSha: ({ id }, number) => ci.findTestRunSha(reader, id, number),
    connection: (organizationId) => ensureSandboxConnection(db, organizationId),
    record: (organizationId, events) => recordHostEvents(cell, organizationId, events),
  };
}
