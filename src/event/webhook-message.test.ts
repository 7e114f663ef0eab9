import { describe, expect, it } from 'vitest';
import { slackBody, teamsBody } from './webhook-message.ts';

const repository = { host: 'github.com', owner: 'acme', name: 'widgets' };
const failed = {
  type: 'pull_request.failed',
  action: 'failed',
  author: 'mallory <!channel> *bold* @here',
  pr_number: 12,
  repository,
  status: 'failed',
  target_branch: 'main',
  failure_reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
  http_details_url: 'https://signalbox.example/app/pull-request?number=12&a=b',
};
const flaky = {
  type: 'test_case.status_changed',
  action: 'status_changed',
  repository,
  test: {
    name: `[click](https://evil.example) <https://evil.example|here>\n\u202e${'x'.repeat(900)}`,
    codeowners: ['@team'],
  },
  previous: { value: 'healthy', reason: '' },
  current: { value: 'flaky', reason: 'It passed when it was run again.' },
  http_details_url: 'https://signalbox.example/app/tests/1',
};

describe('a message to Slack', () => {
  it('says what happened to which pull request, and links to it', () => {
    const { text } = slackBody(failed) as { text: string };
    expect(text).toContain(
      '<https://signalbox.example/app/pull-request?number=12&amp;a=b|#12> failed and was removed from the queue',
    );
    expect(text).toContain('Why: test run required status failed');
  });

  it('can neither mention, nor link, nor mark up what others wrote', () => {
    const { text } = slackBody(failed) as { text: string };
    expect(text).not.toContain('<!channel>');
    expect(text).not.toMatch(/@here|\*bold\*/);
    const other = (slackBody(flaky) as { text: string }).text;
    expect(other.match(/</g)).toHaveLength(1);
    expect(other).not.toContain('\u202e');
    expect(other.length).toBeLessThan(1_000);
  });
});

describe('a message about a queue', () => {
  const ofQueue = {
    repository,
    target_branch: 'main',
    state: 'PAUSED',
    http_details_url: 'https://signalbox.example/app/queue?branch=main',
  };
  const messageOf = (type: string, more: object) =>
    (slackBody({ type, action: type.split('.')[1], ...ofQueue, ...more }) as { text: string }).text;

  it.each([
    [
      'queue.halted',
      { reason: 'The branch is gone.' },
      /main> was stopped by Signalbox\nWhy: The branch is gone\./,
    ],
    ['queue.stalled', { reason: 'Nothing moved.' }, /main> makes no progress\nWhy: Nothing moved\./],
    ['queue.slow', { reason: 'It takes long.' }, /main> has become slow\nWhy: It takes long\./],
    ['queue.recovered', { from: 'halted', actor: 'ada' }, /main> is running again\nBy: ada$/],
    ['queue.recovered', { from: 'stalled' }, /main> makes progress again$/],
    ['queue.recovered', { from: 'slow' }, /main> is as fast as usual again$/],
    [
      'queue.state_changed',
      { previous_state: 'RUNNING', actor: 'ada' },
      /is now PAUSED \(before: RUNNING\)\nBy: ada$/,
    ],
    [
      'landing.mismatch',
      { pr_numbers: [1, 2], is_merged: true },
      /has commits that were not tested as they are, of #1, #2$/,
    ],
    ['landing.mismatch', { pr_numbers: [1], is_merged: false }, /of #1; Signalbox did not merge them$/],
  ])('of %s says what happened, why, and by whom', (type, more, pattern) => {
    expect(messageOf(type, more).replaceAll('\u2060', '')).toMatch(pattern);
  });
});

describe('a card for Teams', () => {
  it('holds what others wrote only as text without markup, and no more than a line of it', () => {
    const card = teamsBody(flaky) as {
      attachments: [
        { contentType: string; content: { body: { type: string; inlines: { text: string }[] }[] } },
      ];
    };
    const [{ contentType, content }] = card.attachments;
    expect(contentType).toBe('application/vnd.microsoft.card.adaptive');
    expect(new Set(content.body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']));
    const texts = content.body.flatMap(({ inlines }) => inlines.map(({ text }) => text));
    expect(texts.join(' ')).toContain('is now flaky (before: healthy)');
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(300);
    expect(texts.join('')).not.toMatch(/[\n\u202e]/);
  });

  it('names the pull requests of a batch, some of many', () => {
    const batch = {
      ...failed,
      type: 'pull_request_batch.failed',
      pr_numbers: Array.from({ length: 30 }, (_, n) => n + 1),
    };
    expect(JSON.stringify(teamsBody(batch))).toContain('#20 and 10 more');
  });
});
