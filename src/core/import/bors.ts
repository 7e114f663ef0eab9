// `bors.toml` to the settings of a queue. bors tests one batch at a time, of everything that waits; what it does where the
// file says nothing is written out, so that the queue begins as it was.

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
  type Wishes,
} from './finding.ts';

const minutesMax = 10_080;
const batchMax = 1000;

const batchOf = (size: number): Wishes => ({
  batch: size > 1,
  ...(size > 1 ? { batchingMinSize: size } : {}),
});

const review =
  'Reviews are the business of the host: require them in its branch protection. The queue waits until the host calls a pull request mergeable.';
const hook = 'There are no hooks. Make it a step of CI on the test branches, or a required check.';

const readers: Readers = {
  status: (value, at) => {
    if (!Array.isArray(value)) return unknown(at, value, 'It is not a list of checks.');
    const patterns = value.filter((name) => typeof name === 'string' && name.includes('%'));
    const plain = value.filter((name) => !patterns.includes(name));
    return joined([
      ...(plain.length > 0 ? [requiredChecks(plain, at)] : []),
      ...patterns.map((name) =>
        unmapped(
          at,
          name,
          'A name with % is a pattern, and required checks are named in full: name each of them.',
        ),
      ),
    ]);
  },
  timeout_sec: (value, at) => {
    if (typeof value !== 'number') return unknown(at, value, 'It is not a number.');
    const minutes = Math.min(minutesMax, Math.max(1, Math.ceil(value / 60)));
    const settings = { testingTimeoutMinutes: minutes };
    return minutes * 60 === value
      ? mapped(at, value, settings)
      : differs(at, value, settings, `It is counted in minutes here, up to ${minutesMax}.`);
  },
  max_batch_size: wholeNumber(1, batchMax, batchOf),
  use_squash_merge: flag((isOn, at) => mapped(at, isOn, { mergeMethod: isOn ? 'squash' : 'merge_commit' })),
  prerun_timeout_sec: (value, at) =>
    typeof value === 'number' && value > 0
      ? differs(
          at,
          value,
          { notReadyTimeoutHours: Math.min(720, Math.ceil(value / 3600)) },
          'It is counted in hours here, from the submission until the pull request is mergeable.',
        )
      : mapped(at, value, { notReadyTimeoutHours: 0 }),
  pr_status: always(
    atHost,
    'Require these checks in the branch protection of the host: the queue waits until it calls a pull request mergeable.',
  ),
  block_labels: always(
    unmapped,
    'No label blocks. Make the pull request a draft, or add a required check that fails while the label is there.',
  ),
  required_approvals: always(atHost, review),
  up_to_date_approvals: always(atHost, review),
  use_codeowners: always(atHost, review),
  delete_merged_branches: flag((isOn, at) =>
    isOn
      ? atHost(at, isOn, 'Let the host delete head branches after a merge: it has a setting for that.')
      : mapped(at, isOn, {}, 'The queue deletes no branch but its own.'),
  ),
  update_base_for_deletes: always(
    atHost,
    'Hosts retarget pull requests by themselves when the branch they are based on is deleted after a merge.',
  ),
  cut_body_after: always(
    unmapped,
    'The body of a pull request is the body of its squash commit, whole. A merge commit has none of it.',
  ),
  commit_title: always(
    unmapped,
    'Titles have no template. A line "merge-commit-title: …" in the body of a pull request is its title instead.',
  ),
  committer: always(
    unmapped,
    'Commits are made in the name of the account or app that Signalbox is connected with.',
  ),
  pre_test_hooks: always(unmapped, hook),
  pre_try_hooks: always(unmapped, hook),
  pre_merge_hooks: always(unmapped, hook),
};

/** What bors does where its file says nothing. */
const defaults: Readonly<Record<string, { readonly settings: Wishes; readonly why: string }>> = {
  timeout_sec: { settings: { testingTimeoutMinutes: 60 }, why: 'bors waits an hour.' },
  use_squash_merge: { settings: { mergeMethod: 'merge_commit' }, why: 'bors makes merge commits.' },
  max_batch_size: {
    settings: batchOf(batchMax),
    why: 'bors puts everything that waits into one batch. A smaller one finds sooner what broke it: 8 is a good start.',
  },
};

export function importBors(file: Readonly<Record<string, unknown>>): Imported {
  // bors takes dashes for underscores.
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
      'As bors does. With a higher concurrency batches are tested on top of each other, before the ones ahead are done.',
    ),
    ...absent.map(([key, { settings: taken, why }]) => mapped(key, undefined, taken, why)),
    given,
  ]);
  return { queues: [{ branch: null, settings }], findings };
}
