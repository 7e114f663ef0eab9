import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hourMs } from '#base/duration.ts';
import { createRandom } from '#base/random.ts';
import { createRiskModel, failuresMin, type EndedAttempt, replayAttempts, type RiskSubject } from './risk.ts';

const usual: RiskSubject = { author: 'ada', attempt: 1, headAgeMs: 4 * hourMs, targetCount: 3 };

/** One attempt an hour, each of which takes half an hour. */
const anAttempt = (at: number, hasFailed: boolean, subject: Partial<RiskSubject> = {}): EndedAttempt => ({
  ...usual,
  ...subject,
  submittedAt: at * hourMs,
  concludedAt: (at + 0.5) * hourMs,
  hasFailed,
});

/** Every `nth` attempt of each author fails. */
const pastOf = (count: number, rates: Readonly<Record<string, number>>): EndedAttempt[] =>
  Array.from({ length: count }, (_, at) => {
    const names = Object.keys(rates);
    const author = names[at % names.length]!;
    return anAttempt(at, Math.floor(at / names.length) % (rates[author] ?? 1) === 0, { author });
  });

const predict = (past: readonly EndedAttempt[], subject: Partial<RiskSubject>) =>
  replayAttempts(past).model.predict({ ...usual, ...subject }).probability;

describe('before 100 failures', () => {
  it('nothing is predicted: the base rate holds for all', () => {
    const failures = Array.from({ length: failuresMin }, (_, at) => anAttempt(at, true));
    expect(predict(failures.slice(1), {})).toBeNull();
    expect(predict(failures, {})).not.toBeNull();
  });

  it('attempts that passed do not count, however many there are', () => {
    expect(predict(pastOf(3_000, { ada: 50 }), {})).toBeNull();
  });
});

describe('a prediction', () => {
  it('follows how often pull requests of the author failed', () => {
    const past = pastOf(4_000, { ada: 100, ben: 5 });
    expect(predict(past, { author: 'ada' })).toBeLessThan(0.04);
    expect(predict(past, { author: 'ben' })).toBeGreaterThan(0.12);
    const stranger = predict(past, { author: 'cleo' });
    expect(stranger).toBeGreaterThan(predict(past, { author: 'ada' })!);
    expect(stranger).toBeLessThan(predict(past, { author: 'ben' })!);
  });

  it.each<[string, Partial<RiskSubject>, Partial<RiskSubject>]>([
    ['submitted again', { attempt: 3 }, { attempt: 1 }],
    ['with an old head', { headAgeMs: 200 * hourMs }, { headAgeMs: 0 }],
    ['with many targets', { targetCount: 90 }, { targetCount: 1 }],
    ['with all targets', { targetCount: 'ALL' }, { targetCount: 1 }],
  ])('is higher for a pull request %s, if such ones fail more often', (_, risky, calm) => {
    const past = Array.from({ length: 3_000 }, (_each, at) =>
      at % 4 === 0 ? anAttempt(at, at % 12 === 0, risky) : anAttempt(at, at % 45 === 1, calm),
    );
    expect(predict(past, risky)).toBeGreaterThan(0.2);
    expect(predict(past, calm)).toBeLessThan(0.08);
  });

  it('says of changes that are all alike what share of them fails', () => {
    const random = createRandom(7);
    const past = Array.from({ length: 4_000 }, (_, at) => anAttempt(at, random() < 0.15));
    expect(predict(past, {})).toBeGreaterThan(0.12);
    expect(predict(past, {})).toBeLessThan(0.18);
  });

  it('follows a share that changes', () => {
    const random = createRandom(7);
    const past = Array.from({ length: 5_000 }, (_, at) =>
      anAttempt(at, random() < (at < 2_500 ? 0.05 : 0.25)),
    );
    expect(predict(past, {})).toBeGreaterThan(0.2);
  });

  it('never is certain', () => {
    expect(
      predict(
        Array.from({ length: 2_000 }, (_, at) => anAttempt(at, true)),
        {},
      ),
    ).toBe(0.98);
    const rare = [
      ...Array.from({ length: 100 }, (_, at) => anAttempt(at, true)),
      ...pastOf(4_900, { ada: 1e9 }),
    ];
    expect(predict(rare, {})).toBeGreaterThanOrEqual(0.002);
  });

  it('is the same whatever the order in which the past is read', () => {
    const past = pastOf(3_000, { ada: 100, ben: 5, cleo: 20 });
    expect(predict(past.toReversed(), { author: 'ben' })).toBe(predict(past, { author: 'ben' }));
  });

  it('stays within its bounds for anything that a queue may have stored', () => {
    const someSubject = fc.record<RiskSubject>({
      author: fc.constantFrom('', 'ada', '__proto__', 'constructor'),
      attempt: fc.nat(2 ** 31 - 1),
      headAgeMs: fc.option(fc.double({ noNaN: true, min: -1e13, max: 1e13 })),
      targetCount: fc.oneof(fc.constant('ALL' as const), fc.constant(null), fc.nat()),
    });
    const someVerdicts = fc.array(fc.tuple(someSubject, fc.boolean()), { minLength: 400, maxLength: 700 });
    fc.assert(
      fc.property(someVerdicts, someSubject, (verdicts, subject) => {
        const model = createRiskModel();
        for (const [past, hasFailed] of verdicts) model.learn(past, model.predict(past), hasFailed);
        const { probability } = model.predict(subject);
        expect(probability === null).toBe(!model.isReady());
        expect(probability ?? 0.5).toBeGreaterThanOrEqual(0.002);
        expect(probability ?? 0.5).toBeLessThanOrEqual(0.98);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a replay', () => {
  it('predicts from nothing but what was known when an attempt was submitted', () => {
    const past = pastOf(2_000, { ada: 100, ben: 5 });
    const submitted = anAttempt(2_000.25, false, { author: 'ben' });
    const meanwhile = Array.from({ length: 400 }, (_, at) => ({
      ...anAttempt(2_000.1, true, { author: 'ben' }),
      concludedAt: submitted.submittedAt + 1 + at,
    }));
    const without = replayAttempts([...past, submitted]).outcomes.at(-1);
    // What ended after the submission, though it was submitted before, changes nothing.
    expect(replayAttempts([...past, ...meanwhile, submitted]).outcomes.at(-1)).toEqual(without);
    // And what ended before it does.
    const known = meanwhile.map((attempt) => ({ ...attempt, concludedAt: submitted.submittedAt }));
    const after = replayAttempts([...past, ...known, submitted]).outcomes.at(-1)!;
    expect(after.probability).toBeGreaterThan(without!.probability);
  });

  it('learns from an attempt that by its clock ended before it was submitted', () => {
    const past = Array.from({ length: failuresMin }, (_, at) => ({ ...anAttempt(at, true), concludedAt: 0 }));
    expect(replayAttempts(past).model.isReady()).toBe(true);
  });
});
