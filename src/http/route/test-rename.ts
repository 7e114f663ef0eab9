// A person confirms or states that a test was renamed, or undoes that.

import { appError } from '#base/error.ts';
import { setRename } from '#command/rename-test.ts';
import type { Handlers } from '../endpoint/context.ts';
import { testChange } from './quarantine.ts';
import { noSuchTest } from './test-health.ts';

export const testRenameHandlers: Handlers<'setTestRename'> = {
  setTestRename: async (context, input) => {
    const { test_case_id, former_test_case_id, is_rename } = input;
    const answer = await setRename(testChange(context, input), {
      formerId: former_test_case_id,
      isRename: is_rename,
    });
    if (answer === 'no-test') throw noSuchTest(test_case_id);
    if (answer === 'no-former') throw noSuchTest(former_test_case_id);
    if (answer !== 'set')
      throw appError('VALIDATION_FAILED', {
        public:
          answer === 'same-test'
            ? 'A test is not its own former name. Give the id of the former test.'
            : 'The former test was itself renamed to this one. Undo that first.',
        details: [{ path: 'former_test_case_id', message: 'must be the former test' }],
      });
    return { test_case_id, former_test_case_id, is_rename };
  },
};
