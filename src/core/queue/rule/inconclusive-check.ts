// The check runs that ended without a result about the change, as text.

import type { Check } from '../check.ts';

const conclusionText: Readonly<Record<string, string>> = {
  cancelled: 'it was cancelled',
  stale: 'its result is stale',
  startup_failure: 'it could not be started',
  action_required: 'it waits for someone to act',
  timed_out: 'it timed out',
};

export const inconclusiveChecks = (
  checks: readonly Check[],
): readonly { readonly name: string; readonly url: string; readonly how: string }[] =>
  checks.flatMap((check) => {
    const how = check.kind === 'check' ? conclusionText[check.conclusion ?? ''] : undefined;
    return how === undefined ? [] : [{ name: check.name, url: check.url, how }];
  });
