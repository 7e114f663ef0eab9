// Which quarantined tests fail together? They are one incident, and an incident has one issue at the Git host.
//
//   two tests fail together   if they failed in the same uploads: in at least two, and in half of those in which the one
//                             that fails more often failed, over two weeks
//   an incident opens         with a quarantined test that fails together with no test of an open one
//   a test joins              the open incident of a test with which it fails together
//   an incident closes        when each of its tests is healthy and not quarantined: what ends a quarantine ends it
//   an incident reopens       when one of its tests is quarantined again within 30 days; after that, another one opens
//
// A test that is out of quarantine for a while, because it is broken or fails in a row, is not healthy: its incident stays
// open. So an issue is closed and reopened only as often as a test is healthy for good and flaky again.
//
// Example. A mail server is slow now and then, and three tests that need it are quarantined within an hour: one issue, with
// three tests. Two of them are fixed, and the issue stays open. The third is fixed, and it closes.

import { dayMs } from '#base/duration.ts';

export const reopenedForDays = 30;
/** Days of failures that are compared. */
export const togetherDays = 14;
const togetherMin = 2;
const togetherShare = 0.5;

export type IncidentTest = {
  readonly id: string;
  readonly isQuarantined: boolean;
  readonly isHealthy: boolean;
  /** The uploads in which it failed. */
  readonly uploads: ReadonlySet<string>;
  readonly incident: { readonly id: string; readonly closedAt: number | null } | null;
};

export type IncidentPlan = {
  readonly opened: readonly string[];
  readonly reopened: readonly string[];
  readonly closed: readonly string[];
  readonly joined: readonly { readonly testCaseId: string; readonly incidentId: string }[];
};

/** `tests`: every quarantined test, and every test of an open incident. */
export function planIncidents(
  tests: readonly IncidentTest[],
  newId: () => string,
  now: number,
): IncidentPlan {
  const members = Map.groupBy(
    tests.filter(({ incident }) => incident?.closedAt === null),
    ({ incident }) => incident!.id,
  );
  const opened: string[] = [];
  const reopened = new Set<string>();
  const joined: { testCaseId: string; incidentId: string }[] = [];
  for (const test of tests) {
    if (!test.isQuarantined || test.incident?.closedAt === null) continue;
    const own = test.incident;
    const isRecent = own !== null && now - (own.closedAt ?? now) < reopenedForDays * dayMs;
    if (isRecent) reopened.add(own.id);
    const incidentId = isRecent ? own.id : (findTogether(test, members) ?? newId());
    if (!members.has(incidentId) && !isRecent) opened.push(incidentId);
    members.set(incidentId, [...(members.get(incidentId) ?? []), test]);
    if (!isRecent) joined.push({ testCaseId: test.id, incidentId });
  }
  const closed = [...members].filter(([, own]) => own.every(hasRecovered)).map(([id]) => id);
  return { opened, reopened: [...reopened], closed, joined };
}

const hasRecovered = ({ isHealthy, isQuarantined }: IncidentTest): boolean => isHealthy && !isQuarantined;

const findTogether = (
  test: IncidentTest,
  members: ReadonlyMap<string, readonly IncidentTest[]>,
): string | undefined =>
  [...members].find(([, own]) => own.some((other) => failTogether(test.uploads, other.uploads)))?.[0];

function failTogether(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((upload) => other.has(upload)).length;
  return shared >= togetherMin && shared >= togetherShare * Math.max(one.size, other.size);
}
