// Converts `bors.toml` to queue settings. bors tests one batch at a time, of everything that waits; its
// defaults are written out, so that the queue starts with the same behaviour.

import {
  always,
  atHost,
  differs,
  flag,
  type Imported,
  joined,
  mapped,
  type Readers,
  readKeys,
  requiredChecks,
  unknown,
  unmapped,
  wholeNumber,
  type ImportedSettings,
} from './finding.ts';

const minutesMax = 10_080;
const batchMax = 1000;

const buildBatchSettings = (size: number): ImportedSettings => ({
  batch: size > 1,
  ...(size > 1 ? { batchingMinSize: size } : {}),
});

const review =
  'Require reviews in the branch protection of the Git host. The queue waits until the Git host reports a pull request as mergeable.';
const hook = 'Signalbox has no hooks. Make it a step of CI on the test branches, or a required check.';

const readers: Readers = {
  status: (value, at) => {
    if (!Array.isArray(value)) return unknown(at, value, 'The value is not a list of checks.');
    const patterns = value.filter((name) => typeof name === 'string' && name.includes('%'));
    const plain = value.filter((name) => !patterns.includes(name));
    return joined([
      ...(plain.length > 0 ? [requiredChecks(plain, at)] : []),
      ...patterns.map((name) =>
        unmapped(
          at,
          name,
          'A name with % is a pattern, and Signalbox needs full names. List each required check.',
        ),
      ),
    ]);
  },
  timeout_sec: (value, at) => {
    if (typeof value !== 'number') return unknown(at, value, 'The value is not a number.');
    const minutes = Math.min(minutesMax, Math.max(1, Math.ceil(value / 60)));
    const settings = { testingTimeoutMinutes: minutes };
    return minutes * 60 === value
      ? mapped(at, value, settings)
      : differs(at, value, settings, `Signalbox counts it in minutes, up to ${minutesMax}.`);
  },
  max_batch_size: wholeNumber(1, batchMax, buildBatchSettings),
  use_squash_merge: flag((isOn, at) => mapped(at, isOn, { mergeMethod: isOn ? 'squash' : 'merge_commit' })),
  prerun_timeout_sec: (value, at) =>
    typeof value === 'number' && value > 0
      ? differs(
          at,
          value,
          { notReadyTimeoutHours: Math.min(720, Math.ceil(value / 3600)) },
          'Signalbox counts it in hours, from the submission until the pull request is mergeable.',
        )
      : mapped(at, value, { notReadyTimeoutHours: 0 }),
  pr_status: always(
    atHost,
    'Require these checks in the branch protection of the Git host. The queue waits until the Git host reports a pull request as mergeable.',
  ),
  block_labels: always(
    unmapped,
    'Labels do not block a pull request. Convert it to a draft, or add a required check that fails while it has the label.',
  ),
  required_approvals: always(atHost, review),
  up_to_date_approvals: always(atHost, review),
  use_codeowners: always(atHost, review),
  delete_merged_branches: flag((isOn, at) =>
    isOn
      ? atHost(
          at,
          isOn,
          'Enable the deletion of head branches after a merge in the settings of the Git host.',
        )
      : mapped(at, isOn, {}, 'Signalbox deletes only its own test branches.'),
  ),
  update_base_for_deletes: always(
    atHost,
    'Git hosts retarget pull requests automatically when their base branch is deleted after a merge.',
  ),
  cut_body_after: always(
    unmapped,
    'The whole body of a pull request becomes the body of its squash commit. A merge commit has no body.',
  ),
  commit_title: always(
    unmapped,
    'There is no template for titles. A line "merge-commit-title: …" in the body of a pull request sets the title.',
  ),
  committer: always(
    unmapped,
    'The committer is the account or App of Signalbox. Set SIGNALBOX_COMMITTER to change it.',
  ),
  pre_test_hooks: always(unmapped, hook),
  pre_try_hooks: always(unmapped, hook),
  pre_merge_hooks: always(unmapped, hook),
};

/** The defaults of bors. */
const defaults: Readonly<Record<string, { readonly settings: ImportedSettings; readonly why: string }>> = {
  timeout_sec: { settings: { testingTimeoutMinutes: 60 }, why: 'The default of bors is one hour.' },
  use_squash_merge: {
    settings: { mergeMethod: 'merge_commit' },
    why: 'The default of bors is a merge commit.',
  },
  max_batch_size: {
    settings: buildBatchSettings(batchMax),
    why: 'bors tests every waiting pull request in one batch. A smaller batch needs fewer runs to find the culprit: start with 8.',
  },
};

export function importBors(file: Readonly<Record<string, unknown>>): Imported {
  // bors accepts dashes for underscores.
  const keys = Object.fromEntries(
    Object.entries(file).map(([key, value]) => [key.replaceAll('-', '_'), value]),
  );
  const given = readKeys(keys, readers);
  const absent = Object.entries(defaults).filter(([key]) => !Object.hasOwn(keys, key));
  const { settings, findings } = joined([
    differs(
      'one batch at a time',
      undefined,
      { concurrency: 1, batchingMaxWaitTimeMinutes: 0 },
      'The same as bors. With a higher concurrency Signalbox tests the next batches before those ahead have finished.',
    ),
    ...absent.map(([key, { settings: taken, why }]) => mapped(key, undefined, taken, why)),
    given,
  ]);
  return { queues: [{ branch: null, settings }], findings };
}
