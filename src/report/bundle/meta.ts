// `meta.json` of a bundle: the uploader's description of the upload. Uploaders of every version are
// supported, so a key that is missing, null or of an unexpected type is ignored; only a value that is not an
// object is no meta at all.

import { z } from 'zod';

const text = z.string().optional().catch(undefined);
const number = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,15}(?:\.\d{1,9})?$/)
      .transform(Number),
  ])
  .optional()
  .catch(undefined);

/** Most variables of a CI that are read, */
const envsMax = 1_000;
/** and the most characters of one. The name of a run or a branch, or a URL, is shorter. */
const envLengthMax = 4_096;

function envsIn(value: unknown): Record<string, string> {
  const envs: Record<string, string> = {};
  if (typeof value !== 'object' || value === null) return envs;
  let left = envsMax;
  for (const name in value) {
    if (left-- === 0) break;
    const text = (value as Record<string, unknown>)[name];
    if (typeof text === 'string' && text.length <= envLengthMax) envs[name] = text;
  }
  return envs;
}

/** A list without its unusable items. */
function lenientList<Item extends z.ZodType>(item: Item) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((items) =>
      items.flatMap((candidate): z.output<Item>[] => {
        const parsed = item.safeParse(candidate);
        return parsed.success ? [parsed.data] : [];
      }),
    )
    .prefault([]);
}

const BundleFile = z.object({
  /** The file's absolute path where it was created. */
  original_path: text,
  /** The same, relative to the repository's root. */
  original_path_rel: text,
  /** Its name in the bundle. */
  path: z.string(),
  owners: lenientList(z.string()),
});

const FileSet = z.object({
  file_set_type: text,
  files: lenientList(BundleFile),
  glob: text,
});

/** The name of a failed or quarantined test. */
const BundleTest = z.object({
  id: text,
  name: text,
  /** Uploaders use either spelling. */
  parentName: text,
  parent_name: text,
  className: text,
  class_name: text,
  file: text,
  variant: text,
});

const BundleRepository = z.object({
  repo: z.object({ host: text, owner: text, name: text }).optional().catch(undefined),
  repo_url: text,
  repo_head_sha: text,
  repo_head_branch: text,
  /** Seconds since 1970. */
  repo_head_commit_epoch: number,
  repo_head_commit_message: text,
  repo_head_author_name: text,
  repo_head_author_email: text,
});

export const BundleMeta = z.object({
  version: text,
  org: text,
  bundle_upload_id: text,
  cli_version: text,
  repo: BundleRepository.optional().catch(undefined),
  file_sets: lenientList(FileSet),
  /** Variables of the CI. */
  envs: z.unknown().transform(envsIn).prefault({}),
  /** Seconds since 1970. */
  upload_time_epoch: number,
  variant: text,
  quarantined_tests: lenientList(BundleTest),
  failed_tests: lenientList(BundleTest),
  codeowners: z.object({ path: text }).optional().catch(undefined),
  test_command: text,
  num_tests: number,
  /** True: the job asks which tests to run before it runs them. */
  can_select_tests: z.boolean().optional().catch(undefined),
  /** How often the job ran its tests, to verify a fix. */
  repeats: z.int().min(1).max(1_000).optional().catch(undefined),
});
export type BundleMeta = z.infer<typeof BundleMeta>;

/** Null: it is not JSON, or not an object. */
export function parseMeta(json: string): BundleMeta | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  const parsed = BundleMeta.safeParse(value);
  return parsed.success ? parsed.data : null;
}
