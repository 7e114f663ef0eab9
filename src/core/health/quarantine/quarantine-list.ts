// The quarantine of a repository can be kept as a list in the repository, and changed by a reviewed pull request. What
// does applying a list change?
//
//   a test with its own setting       becomes what the list says
//   an automatic test of the list     keeps its status; owner, note, ticket and end become what the list says
//   a test that the list leaves out   becomes automatic, if it has a setting of its own
//   a test whose end has passed       is automatic again, whatever the list says: an old list revives nothing
//
// A list that was exported and not changed changes nothing.

import type { QuarantineSetting } from './quarantine.ts';

/** Tests of a list. */
export const quarantineListMax = 1_000;

export type QuarantineTerms = {
  readonly setting: QuarantineSetting;
  readonly expiresAt: Date | null;
  readonly owner: string | null;
  readonly note: string | null;
  readonly ticketId: string | null;
};

export type ListedTerms = QuarantineTerms & { readonly testCaseId: string };
export type CurrentTerms = ListedTerms & { readonly isQuarantined: boolean };

type TermsChange = {
  readonly testCaseId: string;
  readonly before: QuarantineTerms;
  readonly after: QuarantineTerms;
};

export type ListPlan = {
  readonly changes: readonly TermsChange[];
  readonly unknown: readonly string[];
  readonly ended: readonly string[];
};

/** `current`: the tests of the list, and every other test with a setting of its own. */
export function planListImport(
  current: readonly CurrentTerms[],
  wanted: readonly ListedTerms[],
  now: Date,
): ListPlan {
  const known = new Map(current.map((terms) => [terms.testCaseId, terms]));
  const listed = new Set(wanted.map(({ testCaseId }) => testCaseId));
  const ended = wanted.filter((terms) => known.has(terms.testCaseId) && isPast(terms, now));
  const over = new Set(ended.map(({ testCaseId }) => testCaseId));
  const released = current.filter(
    ({ testCaseId, setting }) =>
      setting !== 'AUTO_QUARANTINE' && (!listed.has(testCaseId) || over.has(testCaseId)),
  );
  const requested = [
    ...wanted.filter((terms) => known.has(terms.testCaseId) && !isPast(terms, now)),
    ...released.map(({ testCaseId }) => automatic(testCaseId)),
  ];
  return {
    changes: requested.flatMap((terms) => {
      const { testCaseId, isQuarantined, ...before } = known.get(terms.testCaseId)!;
      const after = combine(before, terms, isQuarantined);
      return isSameTerms(before, after) ? [] : [{ testCaseId, before, after }];
    }),
    unknown: [...listed].filter((testCaseId) => !known.has(testCaseId)),
    ended: [...over],
  };
}

const isPast = ({ expiresAt }: QuarantineTerms, now: Date): boolean => expiresAt !== null && expiresAt <= now;

const automatic = (testCaseId: string): ListedTerms => ({
  testCaseId,
  setting: 'AUTO_QUARANTINE',
  expiresAt: null,
  owner: null,
  note: null,
  ticketId: null,
});

/**
 * An absent ticket stays; an absent end stays for as long as the setting does. An automatic test that is not quarantined
 * any more has no end, whatever an older list says.
 */
function combine(
  before: QuarantineTerms,
  { setting, expiresAt, owner, note, ticketId }: ListedTerms,
  isQuarantined: boolean,
): QuarantineTerms {
  const kept = setting === before.setting ? before.expiresAt : null;
  const hasEnd = isQuarantined || setting !== 'AUTO_QUARANTINE';
  return {
    setting,
    expiresAt: hasEnd ? (expiresAt ?? kept) : kept,
    owner,
    note,
    ticketId: ticketId ?? before.ticketId,
  };
}

const isSameTerms = (one: QuarantineTerms, other: QuarantineTerms): boolean =>
  one.setting === other.setting &&
  one.expiresAt?.getTime() === other.expiresAt?.getTime() &&
  one.owner === other.owner &&
  one.note === other.note &&
  one.ticketId === other.ticketId;
