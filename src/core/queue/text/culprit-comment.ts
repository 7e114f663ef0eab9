// The comment on a landed pull request that is the likely cause of broken tests. It offers a revert and makes none.

import { countText } from '#base/number-text.ts';
import type { CulpritReason } from '../../health/monitor/culprit.ts';
import { code, linked, short } from './markup.ts';

export type CulpritReport = {
  readonly branch: string;
  /** The first of the tests that fail since it landed, with their pages. */
  readonly tests: readonly { readonly name: string; readonly pageUrl: string }[];
  /** How many fail. */
  readonly broken: number;
  /** How many of those that the comment named pass again. */
  readonly resolved: number;
  readonly passedSha: string;
  readonly failedSha: string;
  readonly reason: CulpritReason;
  readonly revert: string | null;
};

/** The same for every text about one landing, so that there is one comment. */
export const culpritMark = (sha: string): string => `signalbox:culprit:${sha}`;

const reasons: Readonly<Record<CulpritReason, string>> = {
  only: 'Nothing else landed in between.',
  failed_before:
    'Other changes landed in between too. This one is the likeliest cause: with it, CI had failed in the same way before any of them landed.',
  changed_file:
    'Other changes landed in between too. This one is the likeliest cause: of all of them only this one changed the file of the test.',
};

/** What a comment says once none of its tests fails because of the pull request. */
export const culpritCommentOver = (branch: string, how: 'resolved' | 'moved'): string =>
  how === 'resolved'
    ? `**The tests that failed on ${code(branch)} after this pull request landed pass again.**`
    : `**Tests fail on ${code(branch)}, and this pull request is no longer the likeliest cause.** Later results showed other commits.`;

export function culpritComment(report: CulpritReport): string {
  const { branch, tests, broken, resolved, passedSha, failedSha, reason, revert } = report;
  const verb = broken === 1 ? 'fails' : 'fail';
  const left = broken - tests.length;
  const list = [
    ...tests.map(({ name, pageUrl }) => `- ${linked(name, pageUrl)}`),
    ...(left > 0 ? [`- … and ${left} more`] : []),
  ];
  return [
    `**${countText(broken, 'test')} ${verb} on ${code(branch)} since this pull request landed**`,
    list.join('\n'),
    `${broken === 1 ? 'It' : 'The first of them'} passed on ${short(passedSha)} and ${broken === 1 ? 'fails' : 'failed'} on ${short(failedSha)}. ${reasons[reason]}`,
    ...(resolved === 0
      ? []
      : [`${countText(resolved, 'other test')} ${resolved === 1 ? 'passes' : 'pass'} again.`]),
    ...(revert === null
      ? []
      : [
          `If this pull request is the cause, it can be reverted: run ${code(revert)} on a new branch, and open a pull request with it. Signalbox reverts nothing.`,
        ]),
  ].join('\n\n');
}
