import { describe, expect, it } from 'vitest';
import { anEntry, aQueue, aStatus, noon } from '../../../../test/fixture/entry.ts';
import type { Check, RequiredCheck } from '../check.ts';
import { mayBeCommand } from './comment-command.ts';
import {
  checkName,
  commentMark,
  headline,
  ownCheck,
  statusAnswer,
  stateLabels,
  statusComment,
  testPullRequestContent,
  type LinkedStatus,
} from './message.ts';
import { entryStates, type Stage } from '../model.ts';
import { cancelledReasons, reasons } from '../reason.ts';
import type { RunId } from '#base/id.ts';
import type { FailedTests } from '../rule/failed-test.ts';

const runId = 'run-1' as RunId;
const red: Check = {
  kind: 'status',
  name: 'ci / test',
  state: 'failure',
  url: 'https://ci.example/7',
  at: 0,
};

function createReport(stage: Stage, change: Partial<LinkedStatus> = {}): LinkedStatus {
  const entry = { ...anEntry({ pullRequest: { number: 7 } }), stage };
  return {
    queue: aQueue({}),
    status: aStatus(entry),
    run: null,
    landing: null,
    refusal: null,
    branchRuleChange: null,
    commandName: 'signalbox',
    pageUrl: 'https://signalbox.example/app/pull-request?number=7',
    ...change,
  };
}

const failed = (reason: string): Stage => ({ kind: 'failed', reason, runId }) as Stage;

const required = (name: string): RequiredCheck => ({ name, source: null });
const noTests: FailedTests = { count: 0, first: [] };

describe('the comment on a pull request', () => {
  it('links to its page on the dashboard', () => {
    const text = statusComment(createReport({ kind: 'testing', runId }), noon);
    expect(text).toContain('[details](<https://signalbox.example/app/pull-request?number=7>)');
  });

  it('has the stages of the attempt, and the next step as a command to copy', () => {
    const textOf = (stage: Stage) => statusComment(createReport(stage), noon);
    const underTest = textOf({ kind: 'testing', runId });
    expect(underTest).toContain('\n\n✓ Submitted → ✓ Queued → ● **Testing** → Merged\n\n');
    expect(underTest).toContain(
      '**Next:** nothing to do. To take it out of the queue, comment `/signalbox cancel`; to test it again, `/signalbox restart`.',
    );
    expect(textOf({ kind: 'not_ready' })).toContain(
      '**Next:** it enters the queue as soon as it is ready. To withdraw it, comment `/signalbox cancel`.',
    );
    expect(textOf({ kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId })).not.toContain('**Next:**');
  });

  it('is no command itself, in any state', () => {
    const texts = [
      ...entryStates.map((state) => anEntry({ stage: state }).stage),
      ...reasons.filter((reason) => /^(TEST_RUN|START_TEST|MERGE_REFUSED)/.test(reason)).map(failed),
      ...cancelledReasons.map((reason): Stage => ({ kind: 'cancelled', reason })),
    ].map((stage) => statusComment(createReport(stage), noon));
    for (const text of texts) expect(mayBeCommand(text)).toBe(false);
  });

  it('quotes the host where it refused to merge, and nothing in the quotation is markup', () => {
    const refusal = 'Repository rule violations found\n\n@ada `x` [link](https://evil.example) #1';
    const text = statusComment(createReport(failed('MERGE_REFUSED_BY_HOST'), { refusal }), noon);
    expect(text).toContain(
      "The Git host answered: `Repository rule violations found @ada 'x' [link](https://evil.example) #1`",
    );
    expect(statusComment(createReport(failed('MERGE_REFUSED_BY_HOST')), noon)).not.toContain(
      'The Git host answered',
    );
  });

  it('says in one line how it ended, for every reason there is, and what to do next', () => {
    const failures = reasons.filter((reason) =>
      /^(TEST_RUN|START_TEST|MERGE_REFUSED|PR_UPDATED)/.test(reason),
    );
    expect(failures).toHaveLength(12);
    for (const reason of failures) {
      const text = statusComment(createReport(failed(reason)), noon);
      expect(text).toMatch(/^\*\*Removed from the queue: [^*]+\*\*/);
      expect(text).toMatch(/comment `\/signalbox merge`/);
    }
    for (const reason of cancelledReasons) {
      const text = statusComment(createReport({ kind: 'cancelled', reason }), noon);
      expect(text).toMatch(/^\*\*Cancelled: [^*]+\*\*/);
      expect(text).toMatch(/comment `\/signalbox merge`/);
    }
  });

  it('does not say that tests failed where CI gave no result, and says what to do', () => {
    const cancelled: Check = {
      kind: 'check',
      suite: '1',
      name: 'ci / test',
      status: 'completed',
      conclusion: 'cancelled',
      url: 'https://ci.example/9',
      at: 0,
    };
    const run = { required: [], checks: [cancelled], ahead: [], failedTests: noTests };
    const text = statusComment(createReport(failed('TEST_RUN_INFRASTRUCTURE_FAILED'), { run }), noon);
    expect(text).toMatch(/^\*\*Removed from the queue: CI gave no result\*\*/);
    expect(text).toContain('No required check failed.');
    expect(text).toContain('[`ci / test`](https://ci.example/9): it was cancelled');
    expect(text).toContain('Find out why CI stopped');
    expect(text).not.toMatch(/tests failed|this pull request caused the failure/);
    const unbegun = { ...run, checks: [] };
    expect(
      statusComment(createReport(failed('TEST_RUN_INFRASTRUCTURE_FAILED'), { run: unbegun }), noon),
    ).toContain('CI never started. Check that CI runs for branches named `signalbox/…`');
  });

  it('names the failed checks with their addresses, and what it was tested on', () => {
    const failedTests: FailedTests = {
      count: 12,
      first: [{ testCaseId: 't', name: 'adds `two` @all', verdict: 'flaky', isQuarantined: false }],
    };
    const run = {
      required: [required('ci / test'), required('lint')],
      checks: [red],
      ahead: [3, 5],
      failedTests,
    };
    const text = statusComment(createReport(failed('TEST_RUN_REQUIRED_STATUS_FAILED'), { run }), noon);
    expect(text).toMatch(/^\*\*Removed from the queue: ci \/ test failed\*\*/);
    expect(text).toContain('tested with `main` and `#3`, `#5` ahead of it');
    expect(text).toContain('  - `adds two @all`: known to be flaky\n  - and 11 more');
    expect(text).toContain('- [`ci / test`](https://ci.example/7) failed');
    expect(text).toContain('Everything ahead of it passed without this pull request');
    const ofSome = { ...run, ranAllTests: false };
    expect(
      statusComment(createReport(failed('TEST_RUN_REQUIRED_STATUS_FAILED'), { run: ofSome }), noon),
    ).toContain('At least one of the tests that failed passed without this pull request');
  });

  it('names a required check that CI skipped, with what may have skipped it', () => {
    const skipped: Check = {
      kind: 'check',
      suite: 's',
      name: 'ci / test',
      status: 'completed',
      conclusion: 'skipped',
      url: 'https://ci.example/8',
      at: 0,
    };
    const run = { required: [required('ci / test')], checks: [skipped], ahead: [], failedTests: noTests };
    const text = statusComment(createReport(failed('TEST_RUN_REQUIRED_STATUS_FAILED'), { run }), noon);
    expect(text).toMatch(/^\*\*Removed from the queue: ci \/ test was skipped\*\*/);
    expect(text).toContain('- [`ci / test`](https://ci.example/8) was skipped');
    for (const cause of ['draft guard', '`merge_group`', '`needs:` without `if: always()`', 'path filter'])
      expect(text).toContain(cause);
    expect(text).toContain('`skippableStatuses`');
    expect(text).not.toContain('flaky');
    // A failure is what it is, also where another check was skipped because of it.
    const both = {
      ...run,
      required: [required('ci / test'), required('lint')],
      checks: [skipped, { ...red, name: 'lint' }],
    };
    const other = statusComment(createReport(failed('TEST_RUN_REQUIRED_STATUS_FAILED'), { run: both }), noon);
    expect(other).toContain(
      '`ci / test`](https://ci.example/8) was skipped\n- [`lint`](https://ci.example/7) failed',
    );
    expect(other).toContain('this pull request caused the failure');
  });

  it('names what a pull request changes in the rules, as it is tested and when it has landed', () => {
    const ruleChange = { pr: 7, added: ['e2e'], removed: ['li`nt'] };
    const run = { required: [], checks: [], ahead: [], failedTests: noTests, ruleChange };
    const text = statusComment(createReport({ kind: 'testing', runId }, { run }), noon);
    expect(text).toContain('This pull request changes which checks are required (`.signalbox.yaml`).');
    expect(text).toContain('It adds `e2e`, which its own tests must pass as well.');
    expect(text).toContain('It removes `lint`, which stay required until the change has merged.');
    const landing = { sha: 'a'.repeat(40), tree: null, testedTree: null, ruleChange };
    const merged: Stage = { kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId };
    expect(statusComment(createReport(merged, { landing }), noon)).toContain('It adds `e2e`');
    expect(statusComment(createReport(merged), noon)).not.toContain('changes which checks');
  });

  it('names how the rules of the branch changed after it was tested, with nothing in the names as markup', () => {
    const branchRuleChange: NonNullable<LinkedStatus['branchRuleChange']> = {
      added: ['e2`e', '@acme/x'],
      bound: [
        { name: 'a', source: 'app:7' },
        { name: 'b', source: 'check_run' },
        { name: 'c', source: 'commit_status' },
      ],
      removed: ['old'],
    };
    const text = statusComment(createReport({ kind: 'testing', runId }, { branchRuleChange }), noon);
    expect(text).toContain('The required checks of `main` changed after this pull request was tested');
    expect(text).toContain('`e2e`, `@acme/x` are required now.');
    expect(text).toContain('`a` must be a check run of the app `7` now.');
    expect(text).toContain('`b` must be a check run now. `c` must be a commit status now.');
    expect(text).toContain('`old` is no longer required.');
    const unnamed = { branchRuleChange: { added: [], bound: [], removed: [] } };
    expect(statusComment(createReport({ kind: 'testing', runId }, unnamed), noon)).not.toContain(
      'required checks',
    );
  });

  it('makes nothing of what others chose into markup', () => {
    const check = { ...red, name: 'x`](javascript:1)<img>', url: 'javascript:alert(1)' };
    const run = { required: [required(check.name)], checks: [check], ahead: [], failedTests: noTests };
    const text = statusComment(createReport(failed('TEST_RUN_REQUIRED_STATUS_FAILED'), { run }), noon);
    expect(text).toContain('- `x](javascript:1)<img>` failed');
    expect(text).not.toContain('](javascript:alert');
  });

  it.each(['@acme/security', '[approve](https://evil.example)', '<img src=x>'])(
    'makes nothing of the name of the check that failed into markup: %s',
    (name) => {
      const run = { required: [required(name)], checks: [{ ...red, name }], ahead: [], failedTests: noTests };
      const report = createReport(failed('TEST_RUN_REQUIRED_STATUS_FAILED'), { run });
      for (const text of [statusComment(report, noon), statusAnswer(report, noon)])
        expect(text.split('\n')[0]).not.toMatch(/@acme|:\/\/|(?<!\\)[[<]/);
    },
  );

  it('makes nothing of the names of checks that it waits for into markup', () => {
    const names = [
      '@acme/security',
      '[approve here](https://evil.example)',
      '![](https://evil.example/pixel.png)',
    ];
    const at = noon.getTime();
    const run = { pushedAt: at, startedAt: null, required: names.map(required), checks: [] };
    const situation = {
      kind: 'testing',
      ahead: { first: [], count: 0 },
      times: { requestedAt: at, pushedAt: at, startedAt: null },
      limits: null,
    } as const;
    const waiting = createReport({ kind: 'testing', runId });
    const text = statusComment({ ...waiting, status: { ...waiting.status, situation, run } }, noon);
    expect(text).toContain('Not reported yet');
    // The last line is ours, with a link to the dashboard.
    const [sentences, footer] = text.split('<sub>');
    expect(footer).toContain('[details](');
    expect(sentences).not.toMatch(/@acme|[^\\]\[|https:\/\//);
  });

  it('proves that what landed is what was tested, and claims it only where it is so', () => {
    const merged: Stage = { kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId };
    const landing = { sha: 'a'.repeat(40), tree: 'b'.repeat(40), testedTree: 'b'.repeat(40) };
    const same = statusComment(createReport(merged, { landing }), noon);
    expect(same).toMatch(/^\*\*Merged into main\*\*/);
    expect(same).toContain('The merged tree is the tested tree, `bbbbbbbbbbbb`.');
    expect(same).toContain('commit `aaaaaaaaaaaa` on `main`');
    // It cannot be submitted again.
    expect(same).not.toContain('/signalbox merge');
    const other = statusComment(
      createReport(merged, { landing: { ...landing, testedTree: 'c'.repeat(40) } }),
      noon,
    );
    expect(other).not.toContain('The merged tree is the tested tree');
    const byHand: Stage = { kind: 'merged', reason: 'MANUAL_MERGE', runId: null };
    expect(statusComment(createReport(byHand), noon)).toMatch(/^\*\*Merged outside the queue\*\*/);
  });

  it('is never taken for a command itself', () => {
    for (const stage of [
      failed('TEST_RUN_TIMEOUT'),
      { kind: 'pending' },
      { kind: 'testing', runId },
    ] as const)
      for (const line of statusComment(createReport(stage), noon).split('\n'))
        expect(line.trimStart().startsWith('/')).toBe(false);
  });

  it('has a mark of its own for each queue, which cannot end the comment it stands in', () => {
    expect(commentMark({ targetBranch: 'main' })).not.toBe(commentMark({ targetBranch: 'next' }));
    expect(commentMark({ targetBranch: 'a-->b' })).not.toContain('--');
  });
});

describe('the queue’s own check', () => {
  const stages: Stage[] = [
    { kind: 'not_ready' },
    { kind: 'pending' },
    { kind: 'testing', runId },
    { kind: 'tests_passed', runId },
    { kind: 'pending_failure', runId },
    { kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId },
    failed('TEST_RUN_TIMEOUT'),
    { kind: 'cancelled', reason: 'USER_REQUESTED' },
  ];

  it('passes only for what has landed, and fails only for what failed', () => {
    expect(stages.map((stage) => ownCheck(createReport(stage), noon).state)).toEqual([
      ...Array.from({ length: 5 }, () => 'pending'),
      'success',
      'failure',
      'cancelled',
    ]);
  });

  it('has the branch in its name and a title that fits', () => {
    expect(checkName({ targetBranch: 'release/1' })).toBe('Signalbox (release/1)');
    for (const stage of stages) {
      const { title } = ownCheck(createReport(stage), noon);
      expect(title.length).toBeLessThanOrEqual(140);
      expect(title).toBe(headline(createReport(stage)));
    }
  });

  it('says how many are ahead', () => {
    const at = (position: number | null) => {
      const base = createReport({ kind: 'pending' });
      return headline({ ...base, status: { ...base.status, position } });
    };
    expect([at(null), at(0), at(3)]).toEqual(['Queued', 'Queued: next', 'Queued: 3 ahead']);
  });

  it('says with how many pull requests ahead it is tested, as far as they have not merged', () => {
    const at = (count: number) => {
      const base = createReport({ kind: 'testing', runId });
      const times = { requestedAt: 0, pushedAt: null, startedAt: null };
      const situation = { kind: 'testing', ahead: { first: [], count }, times, limits: null } as const;
      return headline({ ...base, status: { ...base.status, situation } });
    };
    expect(headline(createReport({ kind: 'testing', runId }))).toBe('Testing with main');
    expect([at(0), at(1), at(2)]).toEqual([
      'Testing with main',
      'Testing with main and the pull request ahead',
      'Testing with main and the 2 pull requests ahead',
    ]);
  });
});

describe('labels and test pull requests', () => {
  it('shows exactly one state', () => {
    for (const state of entryStates) {
      const { add, remove } = stateLabels(state);
      expect([add.length, remove.length, remove.includes(add[0]!)]).toEqual([
        1,
        entryStates.length - 1,
        false,
      ]);
    }
  });

  it('names what is tested, and not too much of it', () => {
    const members = Array.from({ length: 7 }, (_, index) => ({ number: index + 1, title: `T${index}\`` }));
    const { title, body } = testPullRequestContent({ targetBranch: 'main' }, members);
    expect(title).toBe('Test of 1, 2, 3, 4, 5 and 2 more for main');
    expect(body).toContain('- `#7` `T6`');
  });
});
