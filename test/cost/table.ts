// What each operation may cost. A test counts it; one that costs more fails. A change that must cost more raises the
// figure here and says why in its commit; a change that costs less lowers it, so that what was gained stays gained.
//
// The jobs that write on pull requests are left out: how many words they write depends on the time. Statements and round
// trips are what was counted and one more; the list of Git hosts, which is read again after some seconds, is left out. KiB
// are a third more: a statement is sent whole to a connection that has not prepared it yet, and which connection serves varies.

import type { Cost } from './meter.ts';

/** With everything that follows from the operation, jobs that wait for their time too, in a queue with three others. */
export const operations = {
  submit: { statements: 177, roundTrips: 129, databaseKiB: 174, jobs: 7 },
  'check update': { statements: 25, roundTrips: 22, databaseKiB: 28, jobs: 0 },
  landing: { statements: 176, roundTrips: 135, databaseKiB: 135, jobs: 7 },
  upload: { statements: 46, roundTrips: 43, databaseKiB: 24, jobs: 1 },
  'page of a queue': { statements: 16, roundTrips: 16, databaseKiB: 34, jobs: 0 },
} as const satisfies Record<string, Cost>;

/**
 * Requests to the API of a Git host from the submission to the end, of the last of three pull requests in turn: what was
 * counted and one more at GitHub, two more at Gitea. A comment is written or waits, by the time since the last one, and a
 * host that still works out whether it can merge is asked again.
 */
export const callsPerLanding = { github: 10, gitea: 12 } as const;
