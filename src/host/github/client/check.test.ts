import { describe, expect, it } from 'vitest';
import { checkOfRun, checkOfStatus } from './check.ts';

const run = {
  id: 5,
  name: 'build',
  status: 'completed',
  conclusion: 'success',
  details_url: 'https://ci.example/5',
  html_url: 'https://github.com/acme/widgets/runs/5',
  started_at: '2026-01-01T00:00:00Z',
  completed_at: '2026-01-01T00:01:00Z',
  check_suite: { id: 9 },
};

describe('a check run', () => {
  it('is reported with its suite, as of its last update', () => {
    expect(checkOfRun(run)).toEqual({
      kind: 'check',
      suite: '9',
      name: 'build',
      status: 'completed',
      conclusion: 'success',
      url: 'https://ci.example/5',
      at: Date.parse('2026-01-01T00:01:00Z'),
    });
  });

  it.each(['queued', 'waiting', 'requested', 'pending'])('that is %s has not begun', (status) => {
    const check = checkOfRun({ ...run, status, conclusion: null, completed_at: null });
    expect(check).toMatchObject({ status: 'queued', conclusion: null, at: Date.parse(run.started_at) });
  });

  it('that restarts has no conclusion, even if the previous one is still set', () => {
    expect(checkOfRun({ ...run, status: 'in_progress' })).toMatchObject({
      status: 'in_progress',
      conclusion: null,
    });
  });

  it('without a suite, a time and a page of its CI is reported as well', () => {
    const bare = { ...run, check_suite: null, started_at: null, completed_at: null, details_url: null };
    expect(checkOfRun(bare)).toMatchObject({ suite: 'run-5', at: 0, url: run.html_url });
  });
});

describe('a commit status', () => {
  it('is reported as of when it was set', () => {
    const status = {
      context: 'ci/test',
      state: 'error',
      target_url: null,
      updated_at: run.started_at,
    } as const;
    expect(checkOfStatus(status)).toEqual({
      kind: 'status',
      name: 'ci/test',
      state: 'error',
      url: '',
      at: Date.parse(run.started_at),
    });
  });
});
