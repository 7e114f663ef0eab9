// The check runs that ended without a result about the change, in words.

import type { Check } from './check.ts';

const words: Readonly<Record<string, string>> = {
  cancelled: 'it was cancelled',
  stale: 'its result is stale',
  startup_failure: 'it could not be started',
  action_required: 'it waits for a person',
  timed_out: 'it ran out of time',
};

export const inconclusiveChecks = (
  checks: readonly Check[],
): readonly { readonly name: string; readonly url: string; readonly how: string }[] =>
  checks.flatMap((check) => {
    const how = check.kind === 'check' ? words[check.conclusion ?? ''] : undefined;
    return how === undefined ? [] : [{ name: check.name, url: check.url, how }];
  });
