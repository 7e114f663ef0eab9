// `.signalbox.yaml` in the root of a repository. The service reads the required checks from the commits under test; the
// command line reads which files belong to which target. Each reads its own part, so that a mistake in one part does not
// affect the other.
//
//   merge:
//     required_statuses: [ci/test]
//   targets:
//     web: [web/**]
//     api: [src/**, migration/**]
//   unmatched_files: all

import { z } from 'zod';
import { globLengthMax } from './path-glob.ts';
import { parseYamlApart } from './yaml-apart.ts';
import { parseYaml, type Yaml } from './yaml.ts';

export const repositoryFileName = '.signalbox.yaml';

const MergePart = z.looseObject({
  merge: z
    .looseObject({
      required_statuses: z
        .array(z.string().min(1).max(255))
        .max(100)
        .optional()
        .describe('Required checks, if the queue has no list of its own.'),
    })
    .nullish(),
});

const TargetsPart = z.looseObject({
  targets: z
    .record(z.string().min(1).max(1024), z.array(z.string().min(1).max(globLengthMax)).min(1).max(1_000))
    .refine((targets) => Object.keys(targets).length <= 10_000, 'must have at most 10,000 targets')
    .nullish()
    .describe('For each target, the patterns of its files.'),
  unmatched_files: z
    .enum(['all', 'none'])
    .default('all')
    .describe('Whether a changed file that belongs to no target impacts all targets or none.'),
});

export type TargetRules = {
  readonly targets: Readonly<Record<string, readonly string[]>>;
  readonly unmatchedFiles: 'all' | 'none';
};

export type Part<Value> =
  | { readonly kind: 'said'; readonly value: Value }
  /** The file does not have this part. */
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'no-yaml' }
  | { readonly kind: 'invalid'; readonly why: string };

function parseFilePart<Shape extends z.ZodType, Value>(
  yaml: Yaml,
  shape: Shape,
  pick: (content: z.output<Shape>) => Value | undefined,
): Part<Value> {
  if (yaml.kind === 'no-yaml') return yaml;
  const { content } = yaml;
  if (content === null || content === undefined) return { kind: 'unsaid' };
  const parsed = shape.safeParse(content);
  if (!parsed.success)
    return {
      kind: 'invalid',
      why: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
    };
  const value = pick(parsed.data);
  return value === undefined ? { kind: 'unsaid' } : { kind: 'said', value };
}

/** Most characters of a file that the service reads: it comes with pull requests, and is read again and again. */
const servedLengthMax = 65_536;

export const requiredStatusesIn = async (text: string): Promise<Part<readonly string[]>> =>
  parseFilePart(
    await parseYamlApart(text, servedLengthMax),
    MergePart,
    ({ merge }) => merge?.required_statuses,
  );

export const targetRulesIn = (text: string): Part<TargetRules> =>
  parseFilePart(parseYaml(text), TargetsPart, ({ targets, unmatched_files: unmatchedFiles }) =>
    targets === null || targets === undefined ? undefined : { targets, unmatchedFiles },
  );
