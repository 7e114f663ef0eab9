import { describe, expect, it } from 'vitest';
import { culpritComment, culpritCommentOver, culpritMark } from './culprit-comment.ts';

const report = {
  branch: 'main',
  tests: [{ name: 'adds', pageUrl: 'https://sb.example/app/tests/1' }],
  broken: 1,
  resolved: 0,
  passedSha: '1a2b3c4d5e6f'.padEnd(40, '0'),
  failedSha: '9f8e7d6c5b4a'.padEnd(40, '0'),
  reason: 'only',
  revert: 'git revert -m 1 9f8e7d6',
} as const;

describe('the comment on the likeliest pull request', () => {
  it('names the test, the two commits, the reason and the command that reverts it', () => {
    expect(culpritComment(report)).toBe(
      [
        '**1 test fails on `main` since this pull request landed**',
        '- [`adds`](https://sb.example/app/tests/1)',
        'It passed on `1a2b3c4d5e6f` and fails on `9f8e7d6c5b4a`. Nothing else landed in between.',
        'If this pull request is the cause, it can be reverted: run `git revert -m 1 9f8e7d6` on a new branch, and open a pull request with it. Signalbox reverts nothing.',
      ].join('\n\n'),
    );
  });

  it('counts what it does not list, and what passes again', () => {
    const text = culpritComment({
      ...report,
      broken: 12,
      resolved: 1,
      reason: 'failed_before',
      revert: null,
    });
    expect(text).toContain('**12 tests fail on `main`');
    expect(text).toContain('- … and 11 more');
    expect(text).toContain('1 other test passes again.');
    expect(text).not.toContain('reverted');
  });

  it('takes nothing in a name for markup, and bounds it', () => {
    const name = `@everyone \`[x](https://evil.example)\n<img src=x> ${'long '.repeat(500)}`;
    const text = culpritComment({ ...report, tests: [{ name, pageUrl: 'javascript:alert(1)' }] });
    const line = text.split('\n').find((one) => one.startsWith('- '))!;
    expect(line).toMatch(/^- `@everyone \[x\]\(https:\/\/evil\.example\)<img src=x> [^`]*`$/);
    expect(line.length).toBeLessThan(210);
  });

  it('says when it is over', () => {
    expect(culpritCommentOver('main', 'resolved')).toContain('pass again');
    expect(culpritCommentOver('main', 'moved')).toContain('no longer the likeliest cause');
    expect(culpritMark('abc')).toBe('signalbox:culprit:abc');
  });
});
