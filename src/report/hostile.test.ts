// Files made to do harm: none may throw, take long, take memory, or pass as a report without tests.

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { readReport, type Read } from '../../test/fixture/report/fixture.ts';

const suite = (inner: string): Buffer => Buffer.from(`<testsuite name="s">${inner}</testsuite>`);
const names = ({ cases }: Read): readonly string[] => cases.map(({ name }) => name);
const codes = ({ summary }: Read): readonly string[] => summary.problems.map(({ code }) => code);

/** Reads within what is allowed: a second of the processor per MiB, and some memory. */
function readWithin(bytes: Buffer, pieceSize = 64 * 1024): Read {
  const memoryBefore = process.memoryUsage().rss;
  const before = process.threadCpuUsage();
  const read = readReport(bytes, pieceSize);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(Math.max(0.5, bytes.length / 1024 ** 2));
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(96 * 1024 ** 2);
  expect(read.cases.length + read.summary.problems.length).toBeGreaterThan(0);
  return read;
}

describe('entities and document types', () => {
  it('expands no entity, so that a bomb of them stays small', () => {
    const levels = Array.from({ length: 12 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`);
    const read = readWithin(
      Buffer.from(
        `<!DOCTYPE t [<!ENTITY l0 "ha">${levels.join('')}]><testsuite name="s"><testcase name="&l12;"/></testsuite>`,
      ),
    );
    expect(names(read)).toEqual(['&l12;']);
    expect(codes(read)).toEqual(['DTD_IGNORED']);
  });

  it('fetches nothing that a document type names', () => {
    const read = readWithin(
      Buffer.from(
        '<!DOCTYPE t PUBLIC "x" "http://127.0.0.1:1/t.dtd" [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><testsuite name="s"><testcase name="a"/></testsuite>',
      ),
    );
    expect(names(read)).toEqual(['a']);
  });

  it('says that a document type without an end is cut off', () => {
    expect(codes(readWithin(Buffer.from(`<!DOCTYPE t [${'<!ENTITY a "b">'.repeat(50_000)}`)))).toContain(
      'NOT_A_REPORT',
    );
  });

  it('reads a million references by number in a time that grows with their number', () => {
    const read = readWithin(
      suite(`<testcase name="a"><failure>${'&#x41;'.repeat(1_000_000)}</failure></testcase>`),
    );
    expect(read.cases[0]!.failures[0]!.body.length).toBeLessThan(64 * 1024);
    expect(codes(read)).toEqual(['TEXT_CUT']);
  });
});

describe('size and depth', () => {
  it('stops looking below 64 elements, and finds its way back', () => {
    const read = readWithin(
      suite(
        `${'<a>'.repeat(100_000)}<testcase name="deep"/>${'</a>'.repeat(100_000)}<testcase name="after"/>`,
      ),
    );
    expect(names(read)).toEqual(['after']);
    expect(codes(read)).toEqual(['TOO_DEEP']);
  });

  it('reads suites in each other by the hundred thousand', () => {
    const read = readWithin(Buffer.from('<testsuite name="n">'.repeat(100_000)));
    expect(codes(read)).toEqual(['TOO_DEEP', 'TRUNCATED', 'NO_TESTS']);
  });

  it('keeps the beginning of a giant attribute, and reads on', () => {
    const read = readWithin(
      suite(`<testcase name="${'n'.repeat(20_000_000)}" classname="c"/><testcase name="next"/>`),
    );
    expect(read.cases.map(({ name, classname }) => [name.length, classname])).toEqual([
      [1_000, 'c'],
      [4, ''],
    ]);
    expect(codes(read)).toEqual(['ATTRIBUTE_CUT', 'NAME_CUT']);
  });

  it('reads a tag of a million attributes, and attributes named like parts of objects', () => {
    const many = Array.from({ length: 1_000_000 }, (_, at) => `a${at}="v"`).join(' ');
    const read = readWithin(
      suite(
        `<testcase name="first" ${many}/><testcase __proto__="x" constructor="y" toString="z" name="next"/>`,
      ),
    );
    expect(names(read)).toEqual(['first', 'next']);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('keeps beginning and end of a giant text', () => {
    const read = readWithin(
      suite(`<testcase name="a"><failure>begin${'x'.repeat(30_000_000)}end</failure></testcase>`),
    );
    const { body } = read.cases[0]!.failures[0]!;
    expect(body).toMatch(/^beginx+\n… \d+ bytes left out …\nx+end$/);
    expect(body.length).toBeLessThan(66 * 1024);
  });

  it('bounds all texts of a case together, and the number of its failures', () => {
    const failure = `<rerunFailure message="${'m'.repeat(30_000)}">${'b'.repeat(60_000)}</rerunFailure>`;
    const read = readWithin(suite(`<testcase name="a">${failure.repeat(200)}</testcase>`));
    const { failures, attempts } = read.cases[0]!;
    expect([failures.length, attempts]).toEqual([10, 201]);
    expect(JSON.stringify(failures).length).toBeLessThan(100 * 1024);
  });

  it('keeps long names apart that differ only at their end', () => {
    const long = 'n'.repeat(10_000);
    const [a, b] = names(readWithin(suite(`<testcase name="${long}1"/><testcase name="${long}2"/>`)));
    expect(a).not.toBe(b);
  });
});

describe('what makes parsers slow', () => {
  const patterns: readonly (readonly [string, string])[] = [
    ['quotes that open again and again', '<testcase name="a"b '],
    ['values that never end', '<a b="<a b=\''],
    ['tags that never end', '<testcase '],
    ['angle brackets', '<'],
    ['ampersands', '&'],
    ['ends without beginnings', '</testcase>'],
    ['sections that open in text', '<testcase name="x"><failure><![CDATA['],
    ['ends of sections', ']]>'],
    ['comments', '<!-- -'],
    ['half of a surrogate', '&#xD83D;'],
    ['keys', '-----BEGIN PRIVATE KEY-----'],
    ['tokens', 'eyJhbGciOiJI.'],
    ['addresses with passwords', '://a:b'],
    ['escapes', '\u001B['],
    ['escapes without end', '\u001B]'],
    ['hooks', '"before each" hook for "'],
    ['suites with names', `<testsuite name="${'n'.repeat(4_000)}">`],
    ['objects', '{"results":{"tests":[{"name":"a"}'],
  ];

  it.each(patterns)('reads a megabyte of %s', (_, pattern) => {
    const repeated = pattern.repeat(Math.ceil(1_000_000 / pattern.length));
    readWithin(Buffer.from(repeated));
    readWithin(suite(`<testcase name="a"><failure>${repeated}</failure></testcase><testcase name="b"/>`));
    readWithin(suite(`<testcase name="${repeated}"/><testcase name="b"/>`));
    const json = JSON.stringify({ results: { tests: [{ name: `n${repeated}`, status: 'passed' }] } });
    expect(readWithin(Buffer.from(json)).cases).toHaveLength(1);
  });

  it('reads many cases below long suites', () => {
    const nested = `<testsuite name="${'n'.repeat(4_096)}">`.repeat(60);
    const inner = '<testsuite name="x"><testcase name="a"/></testsuite>'.repeat(20_000);
    expect(readWithin(Buffer.from(`${nested}${inner}`)).cases).toHaveLength(20_000);
  });
});

describe('any bytes', () => {
  it('gives the same however they are cut, and a problem where there is no case', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '<testsuite name="s">',
        '<testcase name="a">',
        '<testcase name="b"/>',
        '</testcase>',
        '</testsuite>',
        '<failure message="m">',
        '</failure>',
        '<![CDATA[',
        ']]>',
        '"',
        '&',
        '&amp;',
        'é',
        '\0',
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.integer({ min: 1, max: 9 }), (parts, pieceSize) => {
        const bytes = Buffer.from(parts.join(''));
        const whole = readReport(bytes);
        expect(readReport(bytes, pieceSize)).toEqual(whole);
        expect(whole.cases.length + whole.summary.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});
