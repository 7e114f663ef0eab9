// What of a status is worth writing while a host's hourly budget of content is being used up. GitHub allows 500 requests
// that create content in an hour. The merge calls of landings come first (host/github/pace.ts), and then the comment
// that says how an attempt ended. So a queue that lands 200 pull requests in an hour writes about 400 times: each is merged
// and each has its last comment. What would be written in between is left out, not late: the latest text wins.

/** Of an attempt. */
export type Moment = 'begin' | 'between' | 'end';

type Worth = { readonly comment: boolean; readonly check: boolean };

/** Shares of the budget up to which each is written. */
const upTo = { between: 0.1, begin: 0.15, endOfCheck: 0.25 } as const;

/** `use`: the share of the budget that is used up. `isCheckBegun`: a check that is shown as under way must end. */
export function worthWriting(use: number, moment: Moment, isCheckBegun: boolean): Worth {
  if (moment === 'end') return { comment: true, check: isCheckBegun || use < upTo.endOfCheck };
  const isWorth = use < upTo[moment];
  return { comment: isWorth, check: isWorth };
}
