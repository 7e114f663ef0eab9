// One test case while its element is open: its attempts, and the outcome that follows from them.
//
//   passed, no failed attempt beside it    passed, 1 attempt
//   passed, n failed attempts beside it    flaky, n + 1 attempts
//   failed, n failed attempts beside it    failed, n + 1 attempts
//   skipped                                skipped, 0 attempts
//
// Several failures and errors of the attempt itself (googletest writes one per assertion, pytest one per
// phase) are one failure: the first gives the reason, the others are added to its body. The worst outcome
// counts.

import type { ReportedCase, ReportedFailure, RunOutcome } from '#core/health/reported-case.ts';
import { redactSecrets } from './redact.ts';
import { leftOut } from './text.ts';

const failuresMax = 10;
const none: readonly ReportedFailure[] = Object.freeze([]);
/** Kept of each failure, however much the others of its case take. */
const textMin = 1024;

export class CaseBuilder {
  name = '';
  classname = '';
  parent = '';
  file = '';
  variant = '';
  ownId: string | null = null;
  durationMs: number | null = null;
  isSkipped = false;
  isFailed = false;
  /** The name is known, so the case can be identified. */
  isNamed = false;
  #beside = 0;
  readonly #failures: ReportedFailure[] = [];
  /** The index of the attempt's own failure; -1: it has none yet. */
  #own = -1;
  #isTextCut = false;
  readonly #textMax: number;

  constructor(textMax: number) {
    this.#textMax = textMax;
  }

  get isTextCut(): boolean {
    return this.#isTextCut;
  }

  reset(): void {
    this.name = this.classname = this.parent = this.file = this.variant = '';
    this.ownId = null;
    this.durationMs = null;
    this.isSkipped = this.isFailed = this.isNamed = false;
    this.#beside = 0;
    this.#own = -1;
    this.#isTextCut = false;
    this.#failures.length = 0;
  }

  addFailure(failure: ReportedFailure): void {
    this.isFailed = true;
    const own = this.#failures[this.#own];
    if (own === undefined) {
      if (this.#push(failure)) this.#own = this.#failures.length - 1;
      return;
    }
    const { message, body } = failure;
    // The text of each is bounded here, their sum when the case is built.
    const said = body.includes(message) ? body : body === '' ? message : `${message}\n${body}`;
    if (said !== '' && own.body.length < this.#textMax)
      this.#failures[this.#own] = { ...own, body: own.body === '' ? said : `${own.body}\n\n${said}` };
  }

  /** An attempt in addition to the one whose outcome the case has. */
  addFailedAttempt(failure: ReportedFailure): void {
    this.#beside++;
    this.#push(failure);
  }

  addAttempts(count: number): void {
    this.#beside += count;
  }

  #push(failure: ReportedFailure): boolean {
    if (this.#failures.length >= failuresMax) return false;
    if (failure.type === '' && failure.message === '' && failure.body === '') return false;
    this.#failures.push(failure);
    return true;
  }

  build(): ReportedCase {
    const { name, classname, parent, file, variant, ownId, durationMs } = this;
    const outcome = this.#outcome();
    const attempts = this.#beside + (this.isFailed || !this.isSkipped ? 1 : 0);
    const failures = this.#failures.length === 0 ? none : this.#boundedFailures();
    return { name, classname, parent, file, ownId, variant, outcome, attempts, durationMs, failures };
  }

  #outcome(): RunOutcome {
    if (this.isFailed) return 'failed';
    if (this.isSkipped) return this.#beside > 0 ? 'failed' : 'skipped';
    return this.#beside > 0 ? 'flaky' : 'passed';
  }

  #boundedFailures(): ReportedFailure[] {
    let room = this.#textMax;
    const take = (text: string): string => {
      const clean = redactSecrets(text);
      const max = Math.max(textMin, room);
      if (clean.length > max) this.#isTextCut = true;
      const taken = clean.length > max ? cutMiddle(clean, max) : clean;
      room -= taken.length;
      return taken;
    };
    return this.#failures.map(({ type, message, body }) => ({
      type: redactSecrets(type.slice(0, textMin)),
      message: take(message),
      body: take(body),
    }));
  }
}

function cutMiddle(text: string, max: number): string {
  const tail = max >> 2;
  const head = max - tail;
  return (
    text.slice(0, head).toWellFormed() +
    leftOut(text.length - max) +
    text.slice(text.length - tail).toWellFormed()
  );
}
