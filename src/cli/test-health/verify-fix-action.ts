// What `signalbox tests verify-fix` does.

import { fixText } from '#contract/text/fix-text.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { clockText, printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { findTest, openTests } from './tests-action.ts';

export async function verifyFix(context: CliContext, given: Given): Promise<number> {
  const { fix, cancel } = given.options as { readonly fix?: string; readonly cancel?: boolean };
  if (cancel === true && fix !== undefined) throw new CliError('Use either --fix or --cancel.', 'usage');
  const settled = await openTests(context, given);
  const { api, scope, isJson } = settled;
  const name = { ...scope, test_case_id: await findTest(settled, given.args[0] as string) };
  const answer =
    cancel === true
      ? await api.call('cancelFixVerification', name)
      : await api.call('verifyFix', { ...name, ...(fix === undefined ? {} : { fix_sha: fix }) });
  const { fix_verification: verification } = answer;
  if (isJson) printJson(answer);
  else if (verification === null) printLines(['The fix of the test was never verified.']);
  else
    printLines([
      plainLine(
        fixText(verification, (at) => clockText(at, new Date())),
        1_000,
      ),
    ]);
  return 0;
}
