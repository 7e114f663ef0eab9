// Turns the elements of a report into test cases: JUnit XML in all its dialects, and the native files of
// NUnit and xUnit.net, which hold the same in other elements.
//
// A case counts when its element is closed, by a self-closing tag or by its end tag. A case that is cut short
// counts only if it has failed already: whether it would have passed is not known, and the report is then not
// complete.
//
//   <testsuite name="api" hostname="ci-7">         parent: api
//     <testcase name="logs in" time="0.2">
//       <flakyFailure message="timeout"/>          a failed attempt, then the one that passed: flaky, 2 attempts
//     </testcase>
//   </testsuite>

import { TextDecoder } from 'node:util';
import type { ReportedCase } from '#core/health/reported-case.ts';
import { CaseBuilder } from './case-builder.ts';
import type { ReportLimits } from '../limits.ts';
import { boundedName, errorOfBody, parseUuidV5, normalizePath, stableName } from './name.ts';
import type { Problems } from '../problem.ts';
import { saidBy } from './status.ts';
import { SuiteStack } from './suite.ts';
import { TextCollector, type TextDecoding } from './text.ts';
import { attribute, element, type Attribute, type Element } from './xml-name.ts';
import type { XmlHandler } from './xml-scanner.ts';
import type { Tag } from './xml-tag.ts';
import { ValueReader } from './xml-value.ts';

export type XmlFormat = 'junit' | 'nunit' | 'xunit' | 'unknown';

const formats: Partial<Record<Element, XmlFormat>> = {
  [element.suites]: 'junit',
  [element.suite]: 'junit',
  [element.case]: 'junit',
  [element.testRun]: 'nunit',
  [element.testSuite]: 'nunit',
  [element.testCase]: 'nunit',
  [element.assemblies]: 'xunit',
};

const isCase = (kind: Element): boolean =>
  kind === element.case || kind === element.testCase || kind === element.test;
const isSuite = (kind: Element): boolean =>
  kind === element.suite || kind === element.testSuite || kind === element.collection;
const isFailure = (kind: Element): boolean =>
  kind === element.failure || kind === element.error || kind === element.warning;
const isAttempt = (kind: Element): boolean => kind === element.flaky || kind === element.rerun;

export class JunitReader implements XmlHandler {
  format: XmlFormat = 'unknown';
  cases = 0;
  /** The first element; empty: none. */
  root = '';
  readonly #suites: SuiteStack;
  readonly #onCase: (found: ReportedCase) => void;
  readonly #limits: ReportLimits;
  readonly #problems: Problems;
  readonly #decoding: TextDecoding;
  readonly #values: ValueReader;
  readonly #collector: TextCollector;
  readonly #builder: CaseBuilder;
  readonly #open: Element[] = [];
  /** Elements below the deepest one that is read. */
  #below = 0;
  #isInCase = false;
  #wantsText = false;
  #isCutShort = false;
  /** The current tag, for `#read`. */
  #tag!: Tag;
  #text = '';
  #bytes!: Buffer;
  #type = '';
  #message = '';

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
    this.#suites = new SuiteStack(limits.nameLengthMax);
    this.#values = new ValueReader(limits, problems, decoding);
    this.#collector = new TextCollector(limits.textBytesMax);
    this.#builder = new CaseBuilder(limits.textBytesMax);
  }

  /** Elements were never closed, or were closed by others. */
  get isCut(): boolean {
    return this.#open.length > 0 || this.#isCutShort;
  }

  /** How many tests the suites declare. */
  get declaredTests(): number {
    return this.#suites.declaredTests;
  }

  wantsText = (): boolean => this.#wantsText;

  onText = (bytes: Buffer, start: number, end: number, isLiteral: boolean): void => {
    if (isLiteral) this.#collector.addLiteral(bytes, start, end);
    else this.#collector.add(bytes, start, end);
  };

  onDeclaration = (text: string): void => {
    const label = /\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']/.exec(text)?.[1];
    if (label === undefined || /^(?:utf-?(?:8|16.{0,2})|us-ascii|ascii)$/i.test(label)) return;
    try {
      this.#decoding.fallback = new TextDecoder(label);
    } catch {
      // The encoding is unknown: the bytes are read as they are.
    }
  };

  onDoctype = (): void => this.#problems.add('DTD_IGNORED');

  onStart = (tag: Tag, text: string, bytes: Buffer, start: number, end: number): void => {
    this.#tag = tag;
    this.#text = text;
    this.#bytes = bytes;
    if (this.root === '') this.root = text.slice(tag.nameStart, Math.min(tag.nameEnd, tag.nameStart + 64));
    if (this.format === 'unknown') this.format = formats[tag.element] ?? 'unknown';
    const kind = this.#kindOf(tag);
    if (kind === element.other && this.#wantsText) {
      // A `<` that should have been written `&lt;`.
      this.#collector.addLiteral(bytes, start, end);
      return;
    }
    if (tag.isMalformed) this.#problems.add('MALFORMED');
    if (isCase(kind) || isSuite(kind) || kind === element.suites) this.#closeCase();
    else if (this.#open.at(-1) === element.ignored) return;
    if (this.#open.length >= this.#limits.depthMax) {
      this.#problems.add('TOO_DEEP');
      if (!tag.isEmpty) this.#below++;
      return;
    }
    this.#begin(kind);
    if (tag.isEmpty) this.#finish(kind);
    else this.#open.push(kind);
    this.#updateWantsText();
  };

  onEnd = (tag: Tag, _text: string, bytes: Buffer, start: number, end: number): void => {
    const kind = this.#kindOf(tag);
    if (kind === element.other && this.#wantsText) {
      this.#collector.addLiteral(bytes, start, end);
      return;
    }
    if (this.#below > 0) {
      this.#below--;
      return;
    }
    if (kind !== element.other && tag.isMalformed) this.#problems.add('MALFORMED');
    const at = this.#open.lastIndexOf(kind);
    if (at === -1) {
      if (kind !== element.other && this.#open.at(-1) !== element.ignored) this.#problems.add('MALFORMED');
      return;
    }
    // The elements in between have no end tag.
    if (this.#isInCase && !isCase(kind) && this.#open.findIndex(isCase) > at) this.#closeCase();
    while (this.#open.length > at) this.#finish(this.#open.pop()!);
    this.#updateWantsText();
  };

  /** Some names have a meaning in the files of one runner only. */
  #kindOf(tag: Tag): Element {
    const kind = tag.element;
    if (kind === element.test || kind === element.collection || kind === element.assembly)
      return this.format === 'xunit' ? kind : element.other;
    return kind === element.message && this.format === 'junit' ? element.other : kind;
  }

  #updateWantsText(): void {
    if (!this.#isInCase) {
      this.#wantsText = false;
      return;
    }
    const kind = this.#open.at(-1) ?? element.other;
    this.#wantsText =
      isFailure(kind) || isAttempt(kind) || kind === element.stackTrace || kind === element.message;
  }

  /** An element begins that cannot be in a case, while a case is open. */
  #closeCase(): void {
    if (!this.#isInCase) {
      if (this.#open.at(-1) === element.ignored) this.#open.pop();
      return;
    }
    this.#problems.add('MALFORMED');
    let kind = this.#open.pop();
    while (kind !== undefined && !isCase(kind)) {
      this.#finish(kind);
      kind = this.#open.pop();
    }
    if (this.#builder.isFailed) this.#emit();
    else this.#isCutShort = true;
    this.#isInCase = false;
    this.#below = 0;
  }

  #begin(kind: Element): void {
    switch (kind) {
      case element.case:
      case element.testCase:
      case element.test:
        this.#beginCase(kind);
        break;
      case element.suites:
        this.#suites.beginRoot(this.#has(attribute.id) && this.#read(attribute.name) !== 'vitest tests');
        break;
      case element.suite:
      case element.testSuite:
      case element.collection:
        this.#suites.begin({
          name: this.#name(attribute.name),
          file: normalizePath(this.#name(attribute.file) || this.#name(attribute.filepath)),
          hostname: this.#name(attribute.hostname),
          tests: Number.parseInt(this.#read(attribute.tests), 10),
        });
        break;
      case element.failure:
      case element.error:
      case element.warning:
      case element.flaky:
      case element.rerun:
        this.#beginFailure(kind);
        break;
      case element.skipped:
        this.#builder.isSkipped = true;
        break;
      case element.message:
        this.#collector.clear();
        break;
      default:
    }
  }

  #beginCase(kind: Element): void {
    const builder = this.#builder;
    const suite = this.#suites;
    builder.reset();
    this.#isInCase = true;
    builder.name = stableName(this.#name(attribute.name) || this.#name(attribute.method));
    builder.classname =
      kind === element.test
        ? this.#name(attribute.type)
        : stableName(this.#name(attribute.classname) || this.#name(attribute.class));
    builder.parent = suite.parent;
    builder.file = normalizePath(this.#name(attribute.file) || this.#name(attribute.filepath)) || suite.file;
    builder.variant = suite.variant;
    builder.durationMs =
      this.#values.readSeconds(this.#tag, attribute.time, this.#text) ??
      this.#values.readSeconds(this.#tag, attribute.duration, this.#text);
    if (this.#has(attribute.id)) builder.ownId = parseUuidV5(this.#read(attribute.id));
    if (this.#has(attribute.status)) this.#say(this.#read(attribute.status));
    if (this.#has(attribute.result)) this.#say(this.#read(attribute.result));
    if (this.#has(attribute.success) && /^false$/i.test(this.#read(attribute.success)))
      builder.isFailed = true;
    if (this.#has(attribute.executed) && /^false$/i.test(this.#read(attribute.executed)))
      builder.isSkipped = true;
  }

  #say(statusText: string): void {
    const said = saidBy(statusText);
    if (said === 'failed') this.#builder.isFailed = true;
    else if (said === 'skipped') this.#builder.isSkipped = true;
  }

  #beginFailure(kind: Element): void {
    this.#collector.clear();
    this.#message = this.#read(attribute.message);
    this.#type = this.#read(attribute.type) || this.#read(attribute.exceptionType);
    if (!this.#isInCase) {
      // NUnit repeats the failures of its tests there.
      if (this.format === 'junit') this.#problems.add('SUITE_ERROR');
    } else if (isAttempt(kind) && !this.#suites.isPlaywright) {
      const ms = this.#values.readSeconds(this.#tag, attribute.time, this.#text);
      if (ms !== null) this.#builder.durationMs = (this.#builder.durationMs ?? 0) + ms;
    }
  }

  #finish(kind: Element): void {
    if (isCase(kind)) {
      if (this.#isInCase) this.#emit();
      this.#isInCase = false;
    } else if (isSuite(kind)) this.#suites.end();
    else if (!this.#isInCase) return;
    else if (isFailure(kind)) this.#builder.addFailure(this.#takeFailure());
    else if (isAttempt(kind)) this.#builder.addFailedAttempt(this.#takeFailure());
    else if (kind === element.message) this.#message = this.#collector.take(this.#decoding).trim();
  }

  #takeFailure(): { readonly type: string; readonly message: string; readonly body: string } {
    if (this.#collector.isCut) this.#problems.add('TEXT_CUT');
    const body = this.#collector.isEmpty ? '' : this.#collector.take(this.#decoding).trim();
    if (!this.#suites.isPlaywright) return { type: this.#type, message: this.#message, body };
    return body === '' ? { type: '', message: '', body } : { ...errorOfBody(body), body };
  }

  #emit(): void {
    const builder = this.#builder;
    if (builder.name === '' && builder.classname === '') this.#problems.add('NAMELESS');
    else if (this.cases >= this.#limits.casesMax) this.#problems.add('TOO_MANY_CASES');
    else {
      this.cases++;
      this.#suites.countCase();
      const found = builder.build();
      if (builder.isTextCut) this.#problems.add('TEXT_CUT');
      this.#onCase(found);
    }
  }

  #has(name: Attribute): boolean {
    return this.#tag.startOf(name) !== -1;
  }

  #read(name: Attribute): string {
    return this.#values.read(this.#tag, name, this.#text, this.#bytes);
  }

  #name(name: Attribute): string {
    const value = this.#read(name);
    if (value.length <= this.#limits.nameLengthMax) return value;
    this.#problems.add('NAME_CUT');
    return boundedName(value, this.#limits.nameLengthMax);
  }
}
