// The elements and attributes that have a meaning, as small numbers: names that a report repeats a million
// times are compared in place and never become a string.

export const element = {
  other: 0,
  suites: 1,
  suite: 2,
  case: 3,
  failure: 4,
  error: 5,
  warning: 6,
  skipped: 7,
  /** A failed attempt of a test that passed in the end. */
  flaky: 8,
  /** A failed attempt after the first of a test that failed in the end. */
  rerun: 9,
  stackTrace: 10,
  message: 11,
  /** Output, properties: not kept. */
  ignored: 12,
  /** Native files of other tools. */
  testRun: 13,
  testSuite: 14,
  testCase: 15,
  assemblies: 16,
  assembly: 17,
  collection: 18,
  test: 19,
} as const;
export type Element = (typeof element)[keyof typeof element];

const elementNames: readonly (readonly [string, Element])[] = [
  ['testsuites', element.suites],
  ['testsuite', element.suite],
  ['testcase', element.case],
  ['failure', element.failure],
  ['error', element.error],
  ['warning', element.warning],
  ['skipped', element.skipped],
  ['ignored', element.skipped],
  ['disabled', element.skipped],
  ['flakyFailure', element.flaky],
  ['flakyError', element.flaky],
  ['rerunFailure', element.rerun],
  ['rerunError', element.rerun],
  ['stackTrace', element.stackTrace],
  ['stack-trace', element.stackTrace],
  ['message', element.message],
  ['system-out', element.ignored],
  ['system-err', element.ignored],
  ['properties', element.ignored],
  ['output', element.ignored],
  ['attachments', element.ignored],
  ['traits', element.ignored],
  ['reason', element.ignored],
  ['test-run', element.testRun],
  ['test-suite', element.testSuite],
  ['test-case', element.testCase],
  ['assemblies', element.assemblies],
  ['assembly', element.assembly],
  ['collection', element.collection],
  ['test', element.test],
];

export const attribute = {
  name: 0,
  classname: 1,
  class: 2,
  file: 3,
  filepath: 4,
  time: 5,
  duration: 6,
  id: 7,
  status: 8,
  result: 9,
  message: 10,
  type: 11,
  hostname: 12,
  tests: 13,
  exceptionType: 14,
  success: 15,
  executed: 16,
  method: 17,
} as const;
export type Attribute = (typeof attribute)[keyof typeof attribute];
export const attributeCount = 18;

const attributeNames: readonly (readonly [string, Attribute])[] = [
  ...Object.entries(attribute).filter(([name]) => name !== 'exceptionType'),
  ['exception-type', attribute.exceptionType],
];

/** Grouped by length before they are compared: most lengths have few names. */
function byLength<Code>(names: readonly (readonly [string, Code])[]): readonly (readonly [string, Code])[][] {
  const lists: [string, Code][][] = [];
  for (const [name, code] of names) {
    while (lists.length <= name.length) lists.push([]);
    lists[name.length]!.push([name, code]);
  }
  return lists;
}

const elementsByLength = byLength(elementNames);
const attributesByLength = byLength(attributeNames);

function known(text: string, start: number, end: number): Element {
  const candidates = elementsByLength[end - start];
  if (candidates === undefined) return element.other;
  for (const [name, code] of candidates) if (text.startsWith(name, start)) return code;
  return element.other;
}

/** A prefix such as `ns:` is ignored. */
export function elementAt(text: string, start: number, end: number): Element {
  const found = known(text, start, end);
  if (found !== element.other) return found;
  const colon = text.slice(start, Math.min(end, start + 64)).indexOf(':');
  return colon === -1 ? element.other : known(text, start + colon + 1, end);
}

/** -1: the attribute is not needed. */
export function attributeAt(text: string, start: number, end: number): number {
  const candidates = attributesByLength[end - start];
  if (candidates === undefined) return -1;
  const first = text.charCodeAt(start);
  for (const [name, code] of candidates)
    if (name.charCodeAt(0) === first && text.startsWith(name, start)) return code;
  return -1;
}
