// CTRF (Common Test Report Format), JSON: `results.tests`, each with a status, a duration in milliseconds,
// and its retries. A test that passed after a retry is flaky, whether or not the report marks it as flaky.

import type { ReportedCase } from '#core/health/reported-case.ts';
import { CaseBuilder } from './case-builder.ts';
import { JsonElements } from './json-elements.ts';
import type { ReportLimits } from '../limits.ts';
import { boundedName, parseUuidV5, normalizePath, stableName } from './name.ts';
import type { Problems } from '../problem.ts';
import { saidBy } from './status.ts';
import { decodeBytes, sanitizeText, type TextDecoding } from './text.ts';

/** Of one test with all its attempts and output. */
const elementMax = 4 * 1024 * 1024;
const retriesMax = 1_000;

type CtrfObject = Readonly<Record<string, unknown>>;

export class CtrfReader {
  readonly #elements: JsonElements;
  readonly #onCase: (found: ReportedCase) => void;
  readonly #limits: ReportLimits;
  readonly #problems: Problems;
  readonly #decoding: TextDecoding;
  readonly #builder: CaseBuilder;
  #cases = 0;
  #isLossy = false;

  constructor(
    onCase: (found: ReportedCase) => void,
    limits: ReportLimits,
    problems: Problems,
    decoding: TextDecoding,
  ) {
    this.#onCase = onCase;
    this.#limits = limits;
    this.#problems = problems;
    this.#decoding = decoding;
    this.#builder = new CaseBuilder(limits.textBytesMax);
    this.#elements = new JsonElements(elementMax, {
      onElement: (bytes) => this.#read(bytes),
      onTooLarge: () => {
        this.#isLossy = true;
        problems.add('CASE_TOO_LARGE');
      },
    });
  }

  write(bytes: Uint8Array): void {
    this.#elements.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  end(): { readonly format: 'ctrf' | 'unknown'; readonly cases: number; readonly isComplete: boolean } {
    const { isFound, isCut, declaredTests } = this.#elements;
    const cases = this.#cases;
    if (!isFound) {
      this.#problems.add(
        'NOT_A_REPORT',
        'The file is JSON, but not CTRF: it has no `results.tests`. Configure the runner to write CTRF JSON or JUnit XML.',
      );
      return { format: 'unknown', cases, isComplete: false };
    }
    if (isCut) this.#problems.add('TRUNCATED');
    if (cases === 0) this.#problems.add(declaredTests > 0 ? 'CASES_MISSING' : 'NO_TESTS');
    return { format: 'ctrf', cases, isComplete: !isCut && !this.#isLossy };
  }

  #read(bytes: Buffer): void {
    const test = parseObject(decodeBytes(bytes, this.#decoding));
    if (test === null) {
      this.#isLossy = true;
      this.#problems.add('MALFORMED');
      return;
    }
    const name = this.#nameOf(test['name']);
    if (name === '') this.#problems.add('NAMELESS');
    else if (this.#cases >= this.#limits.casesMax) this.#problems.add('TOO_MANY_CASES');
    else {
      this.#cases++;
      const found = this.#build(test, name);
      if (this.#builder.isTextCut) this.#problems.add('TEXT_CUT');
      this.#onCase(found);
    }
  }

  #build(test: CtrfObject, name: string): ReportedCase {
    const builder = this.#builder;
    builder.reset();
    builder.name = stableName(name);
    builder.parent = this.#suiteOf(test['suite']);
    builder.file = normalizePath(this.#nameOf(test['filePath']) || this.#nameOf(test['filepath']));
    builder.variant = this.#nameOf(test['browser']);
    builder.ownId = typeof test['id'] === 'string' ? parseUuidV5(test['id']) : null;
    const duration = test['duration'];
    if (typeof duration === 'number' && duration >= 0 && Number.isFinite(duration))
      builder.durationMs = duration;
    const said = typeof test['status'] === 'string' ? saidBy(test['status']) : null;
    builder.isSkipped = said === 'skipped' || said === null;
    builder.isFailed = said === 'failed';
    this.#addRetries(test);
    if (builder.isFailed) builder.addFailure(this.#failureOf(test));
    return builder.build();
  }

  /** The attempts before the last. Some writers list the last one as well. */
  #addRetries(test: CtrfObject): void {
    const builder = this.#builder;
    const counted = clampRetries(test['retries']);
    const listed = [test['retryAttempts'], test['attempts']].find((list) => Array.isArray(list)) ?? [];
    const attempts = (listed as readonly unknown[]).slice(0, retriesMax).filter(isObject);
    const isLastListed = counted > 0 ? attempts.length > counted : attempts.at(-1)?.['status'] === 'passed';
    const earlier = isLastListed ? attempts.slice(0, -1) : attempts;
    for (const attempt of earlier)
      if (typeof attempt['status'] !== 'string' || saidBy(attempt['status']) !== 'passed')
        builder.addFailedAttempt(this.#failureOf(attempt));
    const least = Math.max(counted, test['flaky'] === true ? 1 : 0);
    if (least > earlier.length) builder.addAttempts(least - earlier.length);
  }

  #failureOf(said: CtrfObject): { readonly type: string; readonly message: string; readonly body: string } {
    const text = (key: string): string =>
      typeof said[key] === 'string' ? sanitizeText(said[key], this.#decoding).trim() : '';
    // `type` is the kind of test here, such as `unit`.
    return { type: '', message: text('message'), body: text('trace') };
  }

  #suiteOf(suite: unknown): string {
    const { nameLengthMax } = this.#limits;
    if (!Array.isArray(suite)) return this.#nameOf(suite);
    const names = suite.slice(0, 64).map((name) => this.#nameOf(name));
    return boundedName(names.filter((name) => name !== '').join(' › '), nameLengthMax);
  }

  #nameOf(value: unknown): string {
    if (typeof value !== 'string') return '';
    const name = sanitizeText(value, this.#decoding);
    if (name.length <= this.#limits.nameLengthMax) return name;
    this.#problems.add('NAME_CUT');
    return boundedName(name, this.#limits.nameLengthMax);
  }
}

const clampRetries = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(retriesMax, Math.floor(value)) : 0;

const isObject = (value: unknown): value is CtrfObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// oxlint-disable-next-line eslint/no-control-regex
const control = /[\u0000-\u001F]/g;

/** Null: it is not JSON, even without the control characters that some writers leave in strings. */
function parseObject(text: string): CtrfObject | null {
  for (const candidate of [text, text.replace(control, ' ')]) {
    try {
      const value: unknown = JSON.parse(candidate);
      return isObject(value) ? value : null;
    } catch {
      // Try the next, if there is one.
    }
  }
  return null;
}
