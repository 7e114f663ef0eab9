import { describe, expect, it } from 'vitest';
import { dayMs } from '#base/duration.ts';
import { type IncidentTest, planIncidents } from './incident.ts';
import { type IssueTest, issueText } from './issue-text.ts';

const now = Date.UTC(2026, 10, 1);
const test = (id: string, uploads: string, more: Partial<IncidentTest> = {}): IncidentTest => ({
  id,
  isQuarantined: true,
  isHealthy: false,
  uploads: new Set(uploads),
  incident: null,
  ...more,
});
const plan = (...tests: readonly IncidentTest[]) => {
  let count = 0;
  return planIncidents(tests, () => `new ${(count += 1)}`, now);
};
const none = { opened: [], reopened: [], closed: [], joined: [] };

describe('an incident', () => {
  it('is one for tests that fail together, and one for each other test', () => {
    expect(plan(test('a', 'uvw'), test('b', 'vwx'), test('c', 'w'), test('d', 'pq'))).toMatchObject({
      opened: ['new 1', 'new 2', 'new 3'],
      joined: [
        { testCaseId: 'a', incidentId: 'new 1' },
        { testCaseId: 'b', incidentId: 'new 1' },
        { testCaseId: 'c', incidentId: 'new 2' },
        { testCaseId: 'd', incidentId: 'new 3' },
      ],
    });
  });

  it('does not take in a test that fails much more often', () => {
    expect(plan(test('a', 'uv'), test('b', 'uvwxyz')).opened).toHaveLength(2);
  });

  it('is joined by a test that fails together with one of its tests', () => {
    const known = test('a', 'uv', { incident: { id: 'i', closedAt: null } });
    expect(plan(known, test('b', 'uv'))).toEqual({ ...none, joined: [{ testCaseId: 'b', incidentId: 'i' }] });
  });

  it('closes when all of its tests are healthy, and not while one is broken or still quarantined', () => {
    const incident = { id: 'i', closedAt: null };
    const healthy = { isQuarantined: false, isHealthy: true, incident };
    expect(plan(test('a', '', healthy), test('b', '', healthy))).toEqual({ ...none, closed: ['i'] });
    expect(plan(test('a', '', healthy), test('b', '', { ...healthy, isHealthy: false }))).toEqual(none);
    expect(plan(test('a', '', healthy), test('b', '', { ...healthy, isQuarantined: true }))).toEqual(none);
  });

  it('reopens within 30 days, and is another one later', () => {
    const closed = (days: number) => ({ incident: { id: 'i', closedAt: now - days * dayMs } });
    expect(plan(test('a', 'uv', closed(29)))).toEqual({ ...none, reopened: ['i'] });
    expect(plan(test('a', 'uv', closed(31)))).toEqual({
      ...none,
      opened: ['new 1'],
      joined: [{ testCaseId: 'a', incidentId: 'new 1' }],
    });
  });
});

describe('its issue', () => {
  const shown: IssueTest = {
    name: 'waits',
    file: 'test/mail.test.ts',
    status: 'flaky',
    isQuarantined: true,
    endsAt: new Date('2026-12-01T10:00:00Z'),
    owners: ['@acme/mail'],
    url: 'https://signalbox.example/app/tests/1',
  };

  it('names the test, its file, its end and its owner', () => {
    const { title, body } = issueText([shown]);
    expect(title).toBe('Flaky: waits');
    expect(body).toContain(
      '- `waits` in `test/mail.test.ts`: flaky, quarantined until 2026-12-01 ([details](<https://signalbox.example/app/tests/1>))',
    );
    expect(body).toContain('**Owner:** `@acme/mail`');
  });

  it('has no markup or mention that others chose, and stays within the limits of a host', () => {
    const hostile = { ...shown, name: '`</sub>@everyone\n# <img src=x> [a](http://b)', owners: ['@x`\n@y'] };
    const many = Array.from({ length: 500 }, () => ({ ...hostile, name: hostile.name.repeat(50) }));
    const { title, body } = issueText(many);
    expect(title).not.toMatch(/@[a-z]|\n/);
    expect(title.length).toBeLessThanOrEqual(200);
    expect(body.length).toBeLessThan(60_000);
    expect(body.replaceAll(/`[^`\n]*`/g, '')).not.toMatch(/@|<img|\]\(http:/);
  });
});
