// Reads uploads from JSON lines: docs/reference/replay.md documents them. Every error names the line and what to write instead.

import { type BranchClass, branchClasses, classifyBranch } from '#core/health/branch.ts';
import type { ReportedFailure, RunOutcome } from '#core/health/reported-case.ts';
import { type Line, lineError, readLines } from './line.ts';
import type { ReplayUpload, Suite, TestName, TestResult } from './upload.ts';

const testsMax = 200_000;
const suitesMax = 100_000;
const attemptsMax = 100;
const nameMax = 4_096;
const messageMax = 64 * 1024;
const idMax = 512;

const outcomes = ['passed', 'failed', 'skipped'] as const;

type Fields = { readonly [key: string]: unknown };

/** Reads one line after the other; a line that defines a suite gives no upload. */
export function createEventReader(): (line: Line) => ReplayUpload | null {
  const suites = new Map<string, Suite>();
  let lastAt = -Infinity;
  return ({ number, text }) => {
    if (text.trim() === '') return null;
    const read = createFieldReader(number, parseObject(number, text));
    if (read.fields['at'] === undefined) {
      if (suites.size >= suitesMax)
        throw read.fail('suite', `is the ${suitesMax + 1}st suite. Reuse the suites of earlier lines`);
      const id = read.text(
        'suite',
        idMax,
        'Start the line of an upload with `at`, and the line of a suite with `suite`',
      );
      suites.set(id, { id, tests: read.list('tests', testsMax).map((test) => readName(read, test)) });
      return null;
    }
    const at = readInstant(read);
    if (at < lastAt) throw read.fail('at', 'is earlier than the line before. Sort the uploads by time');
    lastAt = at;
    return readUpload(read, at, suites);
  };
}

export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<ReplayUpload> {
  const read = createEventReader();
  for await (const line of readLines(chunks)) {
    const upload = read(line);
    if (upload !== null) yield upload;
  }
}

function parseObject(number: number, text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw lineError(number, 'not valid JSON. Write one JSON object on each line.');
  }
  if (!isObject(value)) throw lineError(number, 'not a JSON object. Write one JSON object on each line.');
  return value;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type FieldReader = ReturnType<typeof createFieldReader>;

function createFieldReader(number: number, fields: Fields) {
  const fail = (key: string, what: string): Error => lineError(number, `\`${key}\` ${what}.`);
  const optionalText = (key: string, max: number): string => {
    const value = fields[key] ?? '';
    if (typeof value !== 'string') throw fail(key, 'is not a text. Write it in quotes');
    if (value.length > max) throw fail(key, `has more than ${max} characters. Shorten it`);
    return value;
  };
  return {
    number,
    fields,
    fail,
    optionalText,
    text: (key: string, max: number, advice: string): string => {
      const value = optionalText(key, max);
      if (value === '') throw fail(key, `is missing. ${advice}`);
      return value;
    },
    flag: (key: string): boolean => {
      const value = fields[key] ?? true;
      if (typeof value !== 'boolean') throw fail(key, 'is neither true nor false');
      return value;
    },
    list: (key: string, max: number): readonly unknown[] => {
      const value = fields[key] ?? [];
      if (!Array.isArray(value)) throw fail(key, 'is not a list. Write it in square brackets');
      if (value.length > max) throw fail(key, `has more than ${max} items. Split the upload by shards`);
      return value;
    },
  };
}

/** ISO 8601, or milliseconds since 1970. */
function readInstant({ fields, fail }: FieldReader): number {
  const value = fields['at'];
  const at = typeof value === 'string' ? Date.parse(value) : value;
  if (typeof at !== 'number' || !Number.isFinite(at))
    throw fail('at', `is not an instant. Write one such as "2026-01-05T08:00:00Z"`);
  return at;
}

function readUpload(read: FieldReader, at: number, suites: ReadonlyMap<string, Suite>): ReplayUpload {
  const branch = read.optionalText('branch', idMax);
  const prNumber = readPullRequest(read);
  const head = read.text('head', idMax, 'Give the commit that the results belong to');
  return {
    at,
    repository: read.text('repository', idMax, 'Give the repository as `owner/name`'),
    job: read.text('job', idMax, 'Give the name of the CI job, without its shard'),
    shard: read.optionalText('shard', idMax),
    variant: read.optionalText('variant', idMax),
    branch,
    branchClass: readBranchClass(read, branch, prNumber),
    prNumber,
    head,
    tested: read.optionalText('tested', idMax) || head,
    isComplete: read.flag('complete'),
    isTrusted: read.flag('trusted'),
    suite: readSuite(read, suites),
    missing: read.list('missing', testsMax).map((test) => readName(read, test)),
    results: read.list('tests', testsMax).map((test) => readResult(read, test)),
  };
}

function readPullRequest({ fields, fail }: FieldReader): number | null {
  const value = fields['pullRequest'] ?? null;
  if (value === null) return null;
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw fail('pullRequest', 'is not a whole number');
  return value as number;
}

function readBranchClass(read: FieldReader, branch: string, prNumber: number | null): BranchClass {
  const given = read.optionalText('branchClass', idMax);
  const known = branchClasses.find((one) => one === given);
  if (known !== undefined) return known;
  if (given !== '') throw read.fail('branchClass', `is \`${given}\`. Use one of ${branchClasses.join(', ')}`);
  return classifyBranch({ branch, prNumber, defaultBranches: ['main', 'master'] });
}

function readSuite(read: FieldReader, suites: ReadonlyMap<string, Suite>): Suite | null {
  const id = read.optionalText('suite', idMax);
  if (id === '') return null;
  const suite = suites.get(id);
  if (suite === undefined)
    throw read.fail('suite', `names \`${id}\`, which no earlier line defines. Define it first`);
  return suite;
}

function readName(read: FieldReader, value: unknown): TestName {
  const fields = typeof value === 'string' ? { name: value } : value;
  if (!isObject(fields)) throw read.fail('tests', 'contains an item that is neither a name nor an object');
  const part = (key: string): string => {
    const text = fields[key] ?? '';
    if (typeof text !== 'string') throw read.fail('tests', `contains a test whose \`${key}\` is not a text`);
    if (text.length > nameMax)
      throw read.fail(
        'tests',
        `contains a test whose \`${key}\` has more than ${nameMax} characters. Shorten it`,
      );
    return text;
  };
  const name = part('name');
  if (name === '') throw read.fail('tests', 'contains a test without a `name`. Name every test');
  return { file: part('file'), classname: part('classname'), parent: part('parent'), name };
}

/** A name alone is a test that passed. */
function readResult(read: FieldReader, value: unknown): TestResult {
  const test = readName(read, value);
  if (!isObject(value)) return { test, outcome: 'passed', failures: [] };
  const attempts = value['attempts'] ?? [value];
  if (!Array.isArray(attempts) || attempts.length === 0 || attempts.length > attemptsMax)
    throw read.fail('attempts', `of \`${test.name}\` is not a list of 1 to ${attemptsMax} attempts`);
  const found = attempts.map((attempt) => readAttempt(read, test.name, attempt));
  return {
    test,
    outcome: combine(found.map(({ outcome }) => outcome)),
    failures: found.flatMap(({ failure }) => failure ?? []),
  };
}

type Attempt = { readonly outcome: (typeof outcomes)[number]; readonly failure: ReportedFailure | null };

function readAttempt(read: FieldReader, name: string, value: unknown): Attempt {
  const fields = isObject(value) ? value : {};
  const given = fields['outcome'] ?? 'passed';
  const outcome = outcomes.find((one) => one === given);
  if (!isObject(value) || outcome === undefined)
    throw read.fail('outcome', `of \`${name}\` is not one of ${outcomes.join(', ')}`);
  const part = (key: string): string => {
    const text = fields[key] ?? '';
    if (typeof text !== 'string') throw read.fail(key, `of \`${name}\` is not a text`);
    return text.slice(0, messageMax);
  };
  const failure = { type: part('type'), message: part('message'), body: part('body') };
  const hasReason = failure.type + failure.message + failure.body !== '';
  return { outcome, failure: outcome === 'failed' && hasReason ? failure : null };
}

function combine(list: readonly Attempt['outcome'][]): RunOutcome {
  const executed = new Set(list.filter((outcome) => outcome !== 'skipped'));
  if (executed.size === 0) return 'skipped';
  if (executed.size === 2) return 'flaky';
  return executed.has('failed') ? 'failed' : 'passed';
}
