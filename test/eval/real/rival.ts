// The rules of others on the same uploads, as far as they can be computed from contradictions alone: tests that passed and failed
// on one commit.
//
//   one contradiction   flaky at once, until 7 days without another
//   two and 1 %         two contradicted commits or more in two weeks, and at least 1 % of all, until two weeks without

import { dayMs } from '#base/duration.ts';
import { hasExecuted, type LoggedUpload } from '../replay/upload-log.ts';
import type { SeenTest, Span } from './score.ts';

const quietMs = 7 * dayMs;
const windowMs = 14 * dayMs;
const shareMin = 0.01;

type Event = { readonly at: number; readonly source: string; readonly sources: number };

export const rivalNames = ['one contradiction', 'two and 1 %'] as const;
export type RivalName = (typeof rivalNames)[number];

export type Rivals = ReturnType<typeof createRivals>;

export function createRivals() {
  const events = new Map<number, Event[]>();
  const bySource = new Map<
    string,
    { readonly upload: LoggedUpload; readonly failing: ReadonlySet<number> }[]
  >();
  /** Instants of the first uploads of each source of the window, ascending. */
  let firstAt: number[] = [];

  const note = (number: number, at: number, source: string): void => {
    const own = events.get(number) ?? [];
    events.set(number, own);
    if (own.some((event) => event.source === source)) return;
    own.push({ at, source, sources: firstAt.filter((first) => first > at - windowMs).length });
  };

  return {
    /** `failing`: by number, whether the test also passed in this upload. */
    add: (upload: LoggedUpload, failing: ReadonlyMap<number, boolean>): void => {
      const { at, source } = upload.passed;
      const earlier = bySource.get(source) ?? [];
      if (earlier.length === 0) firstAt.push(at);
      if (firstAt[0]! < at - 2 * windowMs) firstAt = firstAt.filter((first) => first > at - windowMs);
      for (const [number, isFlaky] of failing) {
        const hasPassed = earlier.some((one) => hasExecuted(one.upload, number) && !one.failing.has(number));
        if (isFlaky || hasPassed) note(number, at, source);
      }
      for (const one of earlier)
        for (const number of one.failing)
          if (!failing.has(number) && hasExecuted(upload, number)) note(number, at, source);
      earlier.push({ upload, failing: new Set(failing.keys()) });
      bySource.set(source, earlier);
    },
    /** The tests with the verdicts of another rule; nothing is quarantined or broken. */
    classify: (name: RivalName, seen: ReadonlyMap<number, SeenTest>): readonly SeenTest[] =>
      [...seen].map(([number, test]) => {
        const own = events.get(number) ?? [];
        const flaky = name === 'one contradiction' ? untilQuiet(own) : whileTwo(own);
        return { ...test, flaky, quarantined: [], broken: [] };
      }),
  };
}

function untilQuiet(events: readonly Event[]): Span[] {
  return extend(events.map(({ at }) => [at, at + quietMs] as const));
}

function whileTwo(events: readonly Event[]): Span[] {
  const found = events.flatMap(({ at, sources }, index) => {
    const recent = events.slice(0, index + 1).filter((event) => event.at > at - windowMs);
    const isFlaky = recent.length >= 2 && recent.length >= shareMin * sources;
    return isFlaky ? [[at, recent.at(-2)!.at + windowMs] as const] : [];
  });
  return extend(found);
}

/** Joins spans that overlap. */
function extend(spans: readonly (readonly [from: number, to: number])[]): Span[] {
  const joined: Span[] = [];
  for (const [from, to] of spans) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to, reason: '' });
  }
  return joined;
}
