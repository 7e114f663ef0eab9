import { describe, expect, it } from 'vitest';
import { type Check, evaluateChecks } from '#core/queue/check.ts';
import { checkFromStatus } from './check.ts';
import { recorded } from '../recorded.ts';
import { CombinedStatus, type CommitState, CommitStatus } from '../schema.ts';

const hostUrl = 'https://gitea.test';
const { statuses } = CombinedStatus.parse(recorded.answers['combined']);
const checks = statuses.map((status) => checkFromStatus(status, hostUrl));
const named = (name: string) => checks.find((check) => check.name === `ci / ${name} (push)`)!;

const status = (context: string, state: CommitState, target_url = '', created_at = 0): CommitStatus => ({
  context,
  status: state,
  target_url,
  created_at,
  creator: '',
});

describe('a status that Actions wrote', () => {
  it('is a check of its workflow, with a whole link', () => {
    expect(named('quick')).toMatchObject({
      kind: 'check',
      suite: 'ci (push)',
      status: 'completed',
      conclusion: 'failure',
      url: 'https://gitea.test/ada/widgets/actions/runs/1/jobs/1',
    });
    expect(named('slow')).toMatchObject({ suite: 'ci (push)', conclusion: 'success' });
    expect(named('maybe')).toMatchObject({ suite: 'ci (push)', conclusion: 'skipped' });
  });

  it('decides when its workflow is over, and not while another job of it runs', () => {
    const names = ['ci / quick (push)'];
    const required = names.map((name) => ({ name, source: null }));
    expect(evaluateChecks(required, checks, [])).toEqual({ kind: 'failed', by: names, skipped: [] });
    const slow = { ...named('slow'), status: 'in_progress', conclusion: null } as Check;
    expect(evaluateChecks(required, [named('quick'), slow], [])).toMatchObject({
      kind: 'open',
      running: names,
    });
    // Another workflow does not hold it up, nor the same one of another event.
    const other = checkFromStatus(
      status('ci / slow (pull_request)', 'pending', '/a/b/actions/runs/2/jobs/9'),
      hostUrl,
    );
    expect(evaluateChecks(required, [named('quick'), other], [])).toMatchObject({ kind: 'failed' });
  });

  it('of a job that was cancelled is no failure', () => {
    const cancelled = {
      ...status('ci / test (push)', 'failure', '/a/b/actions/runs/1/jobs/0'),
      description: 'Has been cancelled',
    };
    expect(checkFromStatus(cancelled, hostUrl)).toMatchObject({
      status: 'completed',
      conclusion: 'cancelled',
    });
    const failed = { ...cancelled, description: 'Failing after 3s' };
    expect(checkFromStatus(failed, hostUrl)).toMatchObject({ conclusion: 'failure' });
    // Only what Actions wrote is read like this: others may write any text.
    expect(checkFromStatus({ ...cancelled, target_url: 'https://ci.example.com/1' }, hostUrl)).toMatchObject({
      kind: 'status',
      state: 'failure',
    });
  });

  it.each([
    ['ci / test (push)', 'ci (push)'],
    ['ci / test (ubuntu, 22) (push)', 'ci (push)'],
    ['ci.yaml / build / link (pull_request)', 'ci.yaml (pull_request)'],
    ['odd', 'odd'],
  ])('named %s is of the suite %s', (context, suite) => {
    expect(checkFromStatus(status(context, 'pending', '/a/b/actions/runs/1/jobs/0'), hostUrl)).toMatchObject({
      suite,
      name: context,
    });
  });
});

describe('any other status', () => {
  it.each([
    ['pending', 'pending'],
    ['success', 'success'],
    ['failure', 'failure'],
    ['error', 'error'],
    ['warning', 'failure'],
    ['skipped', 'skipped'],
  ] as const)('that says %s is taken as %s', (state, taken) => {
    const url = 'https://ci.example.com/1';
    expect(checkFromStatus(status('ci', state, url), hostUrl)).toMatchObject({
      kind: 'status',
      state: taken,
      url,
    });
  });

  it('that says what we do not know has not passed', () => {
    const parsed = CommitStatus.parse({
      context: 'ci',
      status: 'splendid',
      created_at: '2026-01-01T00:00:00Z',
    });
    expect(checkFromStatus(parsed, hostUrl)).toMatchObject({ kind: 'status', state: 'error' });
  });
});

it('of two updates within a second, the one that concludes the check is the later', () => {
  const [begun, ended] = [status('ci', 'pending', '', 5_000), status('ci', 'success', '', 5_000)];
  expect(checkFromStatus(ended, hostUrl).at).toBeGreaterThan(checkFromStatus(begun, hostUrl).at);
  expect(checkFromStatus(status('ci', 'pending', '', 6_000), hostUrl).at).toBeGreaterThan(
    checkFromStatus(ended, hostUrl).at,
  );
});
