// How much content may still be created at GitHub. GitHub allows an installation 80 requests that create
// content in a minute and 500 in an hour (GitHub docs, "Rate limits for the REST API", "About secondary rate
// limits"), and locks out an installation that exceeds this.
//
// Landings come first: the last 100 of an hour and the last 20 of a minute are reserved for them. So a queue
// that lands 200 pull requests in an hour merges all of them, and each gets its last comment.

export const contentPerHour = 500;
const contentPerMinute = 80;
const keptPerHour = 100;
const keptPerMinute = 20;

export type ContentUse = { readonly hour: number; readonly minute: number };

/** `use`: what was created by landings and by everything else. */
export const contentRoom = ({ hour, minute }: ContentUse, isLanding: boolean): ContentUse => ({
  hour: contentPerHour - (isLanding ? 0 : keptPerHour) - hour,
  minute: contentPerMinute - (isLanding ? 0 : keptPerMinute) - minute,
});
