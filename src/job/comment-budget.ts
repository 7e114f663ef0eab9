// Which parts of a status are worth writing while the host's hourly content budget is being used up. GitHub
// allows 500 requests that create content in an hour. The merge calls of landings come first
// (host/github/client/pace.ts), then the comment that reports how an attempt ended. So a queue that lands 200
// pull requests in an hour writes about 400 times: each is merged and each gets its last comment. Updates in
// between are skipped, not delayed: the latest text wins. A comment that names the likely cause of broken tests is delayed:
// it is written once.

/** Of an attempt. */
export type AttemptPhase = 'begin' | 'between' | 'end';

type Worth = { readonly comment: boolean; readonly check: boolean };

/** Shares of the budget up to which each part is written. */
const upTo = { between: 0.1, begin: 0.15, culprit: 0.15, endOfCheck: 0.25 } as const;

/** `use`: the used share of the budget. `isCheckBegun`: a check that is shown as running must end. */
export function worthWriting(use: number, moment: AttemptPhase, isCheckBegun: boolean): Worth {
  if (moment === 'end') return { comment: true, check: isCheckBegun || use < upTo.endOfCheck };
  const isWorth = use < upTo[moment];
  return { comment: isWorth, check: isWorth };
}

/** Whether to write now which pull request is the likely cause of broken tests. */
export const isCulpritCommentWorth = (use: number): boolean => use < upTo.culprit;
