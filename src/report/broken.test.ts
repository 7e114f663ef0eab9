// Reports that something went wrong with: what is in them is taken, and what is not is said.

import { describe, expect, it } from 'vitest';
import {
  type Expected,
  expectedShape,
  failed,
  failure,
  passed,
  readFixture,
  readReport,
  shapeOf,
  skipped,
} from '../../test/fixture/report/fixture.ts';

const nothing = (problem: string, isComplete = false): Expected => ({
  format: 'unknown',
  cases: [],
  problems: [problem],
  isComplete,
});

const reports: Readonly<Record<string, Expected>> = {
  'empty.xml': nothing('EMPTY'),
  'blank.xml': nothing('EMPTY'),
  'text.xml': nothing('NOT_A_REPORT'),
  'coverage.xml': nothing('NOT_A_REPORT'),
  'trx.xml': nothing('NOT_A_REPORT'),
  'robot-native.xml': nothing('NOT_A_REPORT'),
  'not-ctrf.json': nothing('NOT_A_REPORT'),
  'web-page.xml': { ...nothing(''), problems: ['DTD_IGNORED', 'NOT_A_REPORT'] },
  'no-tests.xml': { format: 'junit', cases: [], problems: ['NO_TESTS'] },
  'ctrf-empty.json': { format: 'ctrf', cases: [], problems: ['NO_TESTS'] },
  'cases-missing.xml': { format: 'junit', cases: [], problems: ['CASES_MISSING'], isComplete: false },
  'truncated.xml': {
    format: 'junit',
    cases: [
      passed('one', { classname: 'c', parent: 'big', ms: 100 }),
      failed('two', { classname: 'c', parent: 'big', ms: 100, failures: [failure('', 'no', 'because')] }),
    ],
    problems: ['TRUNCATED'],
    isComplete: false,
  },
  'ctrf-truncated.json': {
    format: 'ctrf',
    cases: [passed('one', { ms: 1 }), failed('two', { failures: [failure('', 'brackets ] } in " text')] })],
    problems: ['TRUNCATED'],
    isComplete: false,
  },
  'roots.xml': {
    format: 'junit',
    cases: [
      passed('a', { parent: 'first' }),
      passed('b', { parent: 'second' }),
      passed('bare', { classname: 'alone' }),
    ],
  },
  'unescaped.xml': {
    format: 'junit',
    cases: [
      passed('x < y && y > z', { classname: 'Map<String, Object>', parent: 'a & b' }),
      passed('says "hello" loudly', { classname: 'q', parent: 'a & b', ms: 500 }),
      failed('generic', {
        classname: 'g',
        parent: 'a & b',
        failures: [failure('', 'a & b &unknown; c', 'expected <T> but 3 < 5 and List<Foo> & </b> end')],
      }),
    ],
    problems: ['MALFORMED'],
  },
  'unclosed.xml': {
    format: 'junit',
    cases: [
      passed('fine', { parent: 's' }),
      failed('never closed, failed', { parent: 's', failures: [failure('', 'f', 'why')] }),
      passed('after', { parent: 's' }),
    ],
    problems: ['MALFORMED 2', 'TRUNCATED'],
    isComplete: false,
  },
  'nested.xml': {
    format: 'junit',
    cases: [
      passed('in outer', { parent: 'outer', file: 'spec/outer.ts' }),
      passed('in inner', { parent: 'outer › middle › inner', file: 'spec/inner.ts' }),
      passed('outer again', { parent: 'outer', file: 'own.ts' }),
    ],
  },
  'own-ids.xml': {
    format: 'junit',
    cases: [
      passed('v5', { parent: 'ids', ownId: 'aad1f138-09ab-5ea9-9c21-af48a03d6edd' }),
      passed('v4', { parent: 'ids' }),
      passed('number', { parent: 'ids' }),
    ],
  },
  'numbers.xml': {
    format: 'junit',
    cases: (
      [
        ['thousands', 1_234_567],
        ['comma', 123],
        ['ambiguous', 1_234],
        ['millions', 1_234_567_000],
        ['exponent', 1.5],
        ['nan', null],
        ['negative', null],
        ['empty', null],
        ['text', null],
        ['german', 1_234_500],
        ['huge', null],
        ['unit', 2_000],
      ] as const
    ).map(([name, ms]) => passed(name, { parent: 'n', ms })),
  },
  'secrets.xml': {
    format: 'junit',
    cases: [
      failed('leaks', {
        parent: 's',
        failures: [
          failure(
            'AuthError',
            '401 for [redacted GitHub token]',
            'Authorization: Bearer [redacted JSON web token]\n' +
              'aws [redacted AWS key] slack [redacted Slack token] url https://deploy:[redacted password]@git.test/x.git\n' +
              '[redacted private key]\nafter',
          ),
        ],
      }),
    ],
  },
  'statuses.xml': {
    format: 'junit',
    cases: [
      failed('error', { parent: 's' }),
      passed('passed', { parent: 's' }),
      skipped('todo', { parent: 's' }),
      passed('unknown', { parent: 's' }),
      skipped('inconclusive', { parent: 's' }),
      skipped('old nunit', { parent: 's' }),
      failed('unsuccessful', { parent: 's' }),
      failed('both', { parent: 's', failures: [failure('', 'f')] }),
      failed('passed but failed', { parent: 's', failures: [failure('', 'e')] }),
    ],
  },
  'namespaces.xml': {
    format: 'junit',
    cases: [failed('a', { parent: 's', failures: [failure('', 'm', 'b')] })],
  },
  'doctype.xml': {
    format: 'junit',
    cases: [passed('&a; &b;', { parent: 's' })],
    problems: ['DTD_IGNORED'],
  },
  'nameless.xml': {
    format: 'junit',
    cases: [passed('', { classname: 'only a class', parent: 's' })],
    problems: ['NAMELESS'],
    isComplete: false,
  },
};

describe('broken and unusual reports', () => {
  it.each(Object.entries(reports))('reads %s', (name, expected) => {
    expect(shapeOf(readReport(readFixture(name)))).toEqual(expectedShape(expected));
  });

  it('says what to do with a file that is something else', () => {
    const messageOf = (name: string): string =>
      readReport(readFixture(name)).summary.problems.at(-1)!.message;
    expect(messageOf('trx.xml')).toContain('--logger junit');
    expect(messageOf('robot-native.xml')).toContain('--xunit');
    expect(messageOf('not-ctrf.json')).toContain('results.tests');
  });
});

const report = (inner: string): string =>
  `<?xml version="1.0" encoding="ENC"?>\n<testsuite name="Prüfung">${inner}</testsuite>`;
const umlaut = '<testcase name="fährt über €"/>';

describe('bytes that are not what they say', () => {
  const names = (bytes: Uint8Array): readonly string[] =>
    readReport(bytes).cases.map(({ parent, name }) => `${parent} › ${name}`);
  const expected = ['Prüfung › fährt über €'];

  it('reads UTF-8 with a mark', () => {
    expect(names(Buffer.from(`\uFEFF${report(umlaut)}`))).toEqual(expected);
  });

  it('reads UTF-16 of both orders, with and without a mark', () => {
    const little = Buffer.from(report(umlaut), 'utf16le');
    const marked = Buffer.from(`\uFEFF${report(umlaut)}`, 'utf16le');
    for (const bytes of [little, marked, Buffer.from(little).swap16(), Buffer.from(marked).swap16()])
      expect(names(bytes)).toEqual(expected);
  });

  it('reads UTF-16 behind a lot of space', () => {
    const bytes = Buffer.from(`\uFEFF${' \n'.repeat(2_000)}${report(umlaut)}`, 'utf16le');
    expect(names(bytes)).toEqual(expected);
    expect(readReport(bytes, 17)).toEqual(readReport(bytes));
  });

  it('reads UTF-16 that is cut in the middle of a character', () => {
    const bytes = Buffer.from(`\uFEFF${report(umlaut)}`, 'utf16le');
    expect(shapeOf(readReport(bytes.subarray(0, bytes.length - 5)))).toMatchObject({
      count: 1,
      isComplete: false,
    });
  });

  it('reads UTF-8 that is declared as something else', () => {
    expect(names(Buffer.from(report(umlaut).replace('ENC', 'ISO-8859-1')))).toEqual(expected);
    expect(names(Buffer.from(report(umlaut).replace('ENC', 'no-such-thing')))).toEqual(expected);
  });

  const windows = Buffer.from(report(umlaut).replaceAll('€', '\u0080'), 'latin1');

  it('reads windows-1252 that is declared as UTF-8, and says so', () => {
    const bytes = Buffer.from(windows.toString('latin1').replace('ENC', 'UTF-8'), 'latin1');
    expect(names(bytes)).toEqual(expected);
    expect(readReport(bytes).summary.problems.map(({ code }) => code)).toEqual(['REPAIRED_BYTES']);
  });

  it('reads a declared encoding', () => {
    const bytes = Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><testsuite name="s"><testcase name="'),
      Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67]),
      Buffer.from('"/></testsuite>'),
    ]);
    expect(names(bytes)).toEqual(['s › テスト']);
  });

  it('replaces what cannot be stored and keeps the rest', () => {
    const bytes = Buffer.concat([
      Buffer.from('<testsuite name="s"><testcase name="a\0b\u0007c &#0;&#x1F; &#xD800; &#xD83D;&#xDE00; '),
      Buffer.from([0xff, 0xc3, 0xa9, 0xed, 0xa0, 0x80]),
      Buffer.from('"/><testcase name="next"/></testsuite>'),
    ]);
    const { cases, summary } = readReport(bytes);
    const repaired = 'a\uFFFDb\uFFFDc \uFFFD\uFFFD \uFFFD 😀 \uFFFDé\uFFFD\uFFFD\uFFFD';
    expect(cases.map(({ name }) => name)).toEqual([repaired, 'next']);
    expect(summary.problems).toMatchObject([{ code: 'REPAIRED_BYTES' }]);
  });
});
