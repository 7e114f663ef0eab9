// Which tests a CI job must run on a commit. While the queue looks for the culprit of a failed batch, the tests
// that failed are enough, and a run that verifies a fix repeats one test: a job that can run named tests asks before it starts.

import { z } from 'zod';
import { fixRepeatsMax } from '#core/health/fix/fix-verification.ts';
import { namedTestsMax } from '#core/queue/planner/targeted.ts';
import { CommitSha, Repository } from '../common.ts';

const text = z.string().max(8_192);

const SelectedTest = z
  .object({
    name: text,
    classname: text,
    parent: text.meta({ description: 'The suite; of nested suites all, outermost first, joined by ` › `.' }),
    file: text,
  })
  .meta({
    id: 'SelectedTest',
    description: 'A test as its report named it. A field that the report did not have is empty.',
  });
export type SelectedTest = z.infer<typeof SelectedTest>;

export const TestSelectionRequest = z.object({
  repo: Repository,
  sha: CommitSha.meta({ description: 'The commit that CI tests.' }),
  job: z.string().max(500).optional().meta({
    description:
      'The job, as its uploads name it: the answer then leaves out tests of other jobs. Default: all jobs.',
  }),
});

export const TestSelectionResponse = z.object({
  tests: z.array(SelectedTest).max(namedTestsMax).nullable().meta({
    description:
      'The tests that are enough for this commit. Null: run all tests. Empty: the job need not run any.',
  }),
  repeats: z.int().min(1).max(fixRepeatsMax).default(1).meta({
    description: 'How often to run these tests, to verify a fix; stop at the first failure.',
  }),
});
