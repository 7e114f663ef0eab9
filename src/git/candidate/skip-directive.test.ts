import { describe, expect, it } from 'vitest';
import { withoutSkipDirectives, withoutVouching } from './skip-directive.ts';

describe('directives that keep CI from running', () => {
  it.each([
    ['Fix [skip ci]', 'Fix (skip ci)'],
    ['[CI SKIP] Fix', '(CI SKIP) Fix'],
    ['a [no ci] b [skip actions] c [actions skip]', 'a (no ci) b (skip actions) c (actions skip)'],
    ['[skip-ci] [ci-skip] [skip travis] [vercel skip]', '(skip-ci) (ci-skip) (skip travis) (vercel skip)'],
    ['***NO_CI***', '(NO_CI)'],
    ['Fix\n\n\nskip-checks: true\n', 'Fix\n\n\n(skip-checks: true)\n'],
    ['Fix\n\n  Skip-Checks:true', 'Fix\n\n(Skip-Checks:true)'],
    ['Fix\n\nSignalbox-Test: {"name":"a"}', 'Fix\n\n(Signalbox-Test: {"name":"a"})'],
    [' signalbox-test-count : 0', '(signalbox-test-count : 0)'],
    ['Signalbox-Test-Repeats: 9', '(Signalbox-Test-Repeats: 9)'],
  ])('%j becomes %j', (text, readable) => {
    expect(withoutSkipDirectives(text)).toBe(readable);
    expect(withoutSkipDirectives(readable)).toBe(readable);
  });

  it('leaves other text as it is', () => {
    for (const text of ['Skip ci when idle', '[skip]', '[WIP] no ci yet', '[no-op] skipped', 'skip-checks'])
      expect(withoutSkipDirectives(text)).toBe(text);
    expect(withoutVouching('Reviewed-by the team')).toBe('Reviewed-by the team');
  });

  it('an author does not vouch in the name of others', () => {
    expect(withoutVouching('Why\n\nReviewed-by: grace\napproved-by: ada')).toBe(
      'Why\n\n(Reviewed-by: grace)\n(approved-by: ada)',
    );
  });

  it('takes time in proportion to the text', () => {
    const time = (size: number) => {
      const texts = ['[', '[skip ', ' ', '\n', '*', '[a-', 'reviewed-by '].map((part) =>
        part.repeat(size / part.length),
      );
      const start = performance.now();
      for (const text of texts) withoutVouching(withoutSkipDirectives(text));
      return performance.now() - start;
    };
    time(64_000);
    expect(time(256_000)).toBeLessThan(1_000);
  });
});

it('finds a trailer behind whitespace of any kind, which is trimmed later', () => {
  for (const space of ['\u00a0', '\ufeff', '\f', '\v', '\u2028', '\r'])
    expect(withoutSkipDirectives(`${space}Signalbox-Test-Count: 0`)).toMatch(/\(Signalbox-Test-Count: 0\)$/);
});
