// Which tests are new: a CI job asks after its run, and repeats them.

import { z } from 'zod';
import { Repository } from '../common.ts';

export const newTestsAskedMax = 10_000;

const text = (max: number) => z.string().max(max).optional();

const AskedTest = z
  .object({
    name: z.string().max(8_192),
    classname: text(8_192),
    parent: text(8_192),
    file: text(8_192),
    id: z.uuid().optional().meta({ description: 'The UUID that the report itself gives to the test.' }),
    variant: text(64),
  })
  .meta({ id: 'AskedTest', description: 'A test as its report names it.' });
export type AskedTest = z.infer<typeof AskedTest>;

export const ListNewTestsRequest = z.object({
  repo: Repository,
  tests: z.array(AskedTest).min(1).max(newTestsAskedMax),
});

export const ListNewTestsResponse = z.object({
  new_tests: z.array(z.int().min(0)).max(newTestsAskedMax).meta({
    description:
      'The places in `tests`, from 0, of those that no report of the default branch has, nor one of a run that the queue has merged.',
  }),
  is_branch_known: z.boolean().meta({
    description: 'False: there are no reports of the default branch, so it is not known which tests are new.',
  }),
});
