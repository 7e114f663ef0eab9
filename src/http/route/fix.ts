// The verification of fixes of tests.

import { randomUUID } from 'node:crypto';
import { appError } from '#base/error.ts';
import { cancelFixVerification, verifyFix, type VerifyFixAnswer } from '#command/verify-fix.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { findVerification } from '#db/run/fix-view.ts';
import type { Context, Handlers } from '../endpoint/context.ts';
import { presentVerification } from '../endpoint/present-prospect.ts';
import { testChange } from './quarantine.ts';
import { noSuchTest } from './test-health.ts';

export const fixHandlers: Handlers<'verifyFix' | 'cancelFixVerification'> = {
  verifyFix: async (context, input) => {
    const change = testChange(context, input);
    const fixSha = input.fix_sha?.toLowerCase() ?? null;
    const answer = await verifyFix(change, { id: randomUUID(), fixSha });
    if (answer.kind === 'unknown_test') throw noSuchTest(input.test_case_id);
    if (answer.kind !== 'started') throw appError('FIX_NOT_VERIFIABLE', { public: refusals[answer.kind] });
    return present(context, change);
  },

  cancelFixVerification: async (context, input) => {
    const change = testChange(context, input);
    if (!(await cancelFixVerification(change))) throw noSuchTest(input.test_case_id);
    return present(context, change);
  },
};

const refusals: Readonly<Record<Exclude<VerifyFixAnswer['kind'], 'started' | 'unknown_test'>, string>> = {
  healthy: 'The test is healthy, so there is nothing to verify.',
  set_manually:
    'A person set the status of the test, so no run changes it. Make the status automatic with flagTest, then verify the fix.',
  already_started: 'The fix of the test is being verified. Cancel that with cancelFixVerification first.',
};

async function present(
  { cell }: Context,
  { repository, testCaseId }: ReturnType<typeof testChange>,
): Promise<ResponseOf<'verifyFix'>> {
  const found = await findVerification(cell.db, repository.id, testCaseId);
  return { fix_verification: found && presentVerification(found) };
}
