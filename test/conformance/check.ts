/** Records what was asserted: each check passes, fails or is skipped, within a section. */
import { isDeepStrictEqual } from 'node:util';

export type Failure = { readonly section: string; readonly name: string; readonly detail: string };
type Skip = { readonly section: string; readonly name: string; readonly reason: string };
type SectionTotal = { passed: number; failed: number; skipped: number };

export type Recorder = {
  readonly failures: readonly Failure[];
  readonly skips: readonly Skip[];
  readonly totals: ReadonlyMap<string, SectionTotal>;
  startSection(name: string): void;
  /** Records one assertion; `detail` says what was asked, what was expected and what came. */
  check(name: string, condition: boolean, detail: string): boolean;
  /** Asserts deep equality. */
  equal(name: string, got: unknown, expected: unknown, asked?: string): boolean;
  /** A rule that holds for many answers: counted once however often it is looked at. */
  always(name: string, condition: boolean, detail: string): void;
  skip(name: string, reason: string): void;
};

export function createRecorder(onFailure: (failure: Failure) => void): Recorder {
  const failures: Failure[] = [];
  const skips: Skip[] = [];
  const totals = new Map<string, SectionTotal>();
  const rules = new Map<string, { ok: boolean; total: SectionTotal }>();
  let section = 'start';

  function total(): SectionTotal {
    const known = totals.get(section);
    if (known) return known;
    const fresh = { passed: 0, failed: 0, skipped: 0 };
    totals.set(section, fresh);
    return fresh;
  }

  function fail(name: string, detail: string): void {
    const failure = { section, name, detail };
    failures.push(failure);
    onFailure(failure);
  }

  function check(name: string, condition: boolean, detail: string): boolean {
    if (condition) total().passed += 1;
    else {
      total().failed += 1;
      fail(name, detail);
    }
    return condition;
  }

  function equal(name: string, got: unknown, expected: unknown, asked = ''): boolean {
    const detail = `${asked}${asked ? ' ' : ''}expected ${brief(expected)}, got ${brief(got)}`;
    return check(name, isDeepStrictEqual(got, expected), detail);
  }

  function always(name: string, condition: boolean, detail: string): void {
    const known = rules.get(name);
    if (!known) {
      rules.set(name, { ok: condition, total: total() });
      check(name, condition, detail);
    } else if (known.ok && !condition) {
      known.ok = false;
      known.total.passed -= 1;
      check(name, false, detail);
    }
  }

  function skip(name: string, reason: string): void {
    total().skipped += 1;
    skips.push({ section, name, reason });
  }

  function startSection(name: string): void {
    section = name;
  }

  return { failures, skips, totals, startSection, check, equal, always, skip };
}

/** A value as JSON, cut so that a failing line stays readable. */
export function brief(value: unknown, lengthMax = 600): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}… (${text.length} characters)` : text;
}
