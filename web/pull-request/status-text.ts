// Where a pull request stands, for the head of its page: what is said first, and what is said in smaller type below it.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';

type WaitingRecord = Pick<ResponseOf<'getSubmittedPullRequest'>, 'waitingFor' | 'estimatedMergeAt'>;

export type StatusText = {
  readonly lead: string;
  readonly rest: readonly string[];
};

/** A sentence ends where the next begins, so a full stop within a name ends none. */
const betweenSentences = /(?<=[.!?]) (?=[A-Z#])/;

/** Of a pull request that waits. Beside the time of its merge one sentence is enough. */
export function chooseStatusText({ waitingFor, estimatedMergeAt }: WaitingRecord): StatusText {
  const [first = '', ...others] = waitingFor;
  const sentences = first.split(betweenSentences);
  const leading = estimatedMergeAt === null ? 2 : 1;
  const rest = sentences.slice(leading).join(' ');
  return {
    lead: sentences.slice(0, leading).join(' '),
    rest: [...(rest === '' ? [] : [rest]), ...others],
  };
}
