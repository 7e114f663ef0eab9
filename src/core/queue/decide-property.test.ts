import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aStage,
  anEntry,
  anEntryId,
  journeys,
  later,
  noon,
  type Step,
  travel,
  underTestStates,
} from '../../../test/fixture/entry.ts';
import { evolve } from './evolve.ts';
import { isEnded } from './model.ts';

const eachStep = (check: (step: Step, steps: readonly Step[]) => void): void =>
  fc.assert(
    fc.property(journeys, (journey) => {
      const steps = travel(journey);
      for (const step of steps) check(step, steps);
    }),
    { numRuns: 500 },
  );

describe('whatever is asked and observed, in whatever order', () => {
  it('an entry keeps its id and its attempt only ever grows, by one with each submission', () => {
    eachStep(({ before, facts, after }) => {
      expect(after?.id).toBe(before?.id ?? after?.id);
      const submissions = facts.filter((fact) => fact.kind === 'submitted').length;
      expect(after?.attempt ?? 0).toBe((before?.attempt ?? 0) + submissions);
    });
  });

  it('an entry that has ended changes only by being submitted, and a merged one never', () => {
    const mayChange = ({ before, command }: Step) =>
      before === null ||
      !isEnded(before.stage) ||
      (command.kind === 'submit' && before.stage.kind !== 'merged');
    eachStep((step) => {
      expect(step.after === step.before || mayChange(step)).toBe(true);
    });
  });

  it('a live attempt keeps the head it was submitted with', () => {
    const isSameAttempt = ({ before, after }: Step) =>
      after !== null && after.attempt === before?.attempt && !isEnded(after.stage);
    eachStep((step) => {
      const { before, after } = step;
      expect(isSameAttempt(step) ? after?.pullRequest.headSha : null).toBe(
        isSameAttempt(step) ? before?.pullRequest.headSha : null,
      );
    });
  });

  it('the times of an attempt are those of its stages', () => {
    eachStep((last, steps) => {
      if (last.after === null) return;
      const { attempt } = last.after;
      const facts = steps.slice(0, steps.indexOf(last) + 1).flatMap((step) => step.facts);
      const begins = facts.flatMap((fact, index) => (fact.kind === 'submitted' ? [index] : []));
      expect(begins).toHaveLength(attempt);
      const stays = facts
        .slice(begins.at(-1))
        .flatMap((fact) =>
          fact.kind === 'submitted'
            ? [{ kind: 'not_ready', at: fact.at }]
            : fact.kind === 'moved'
              ? [{ kind: fact.to.kind, at: fact.at }]
              : [],
        );
      const spentIn = (...kinds: string[]) =>
        stays
          .slice(0, -1)
          .map(({ kind, at }, index) => (kinds.includes(kind) ? +stays[index + 1]!.at - +at : 0))
          .reduce((sum, ms) => sum + ms, 0);
      const { waitMs, testMs, inQueueMs, queuedAt, stageChangedAt, submittedAt } = last.after;
      expect({ waitMs, testMs, inQueueMs, queuedAt, stageChangedAt, submittedAt }).toEqual({
        waitMs: spentIn('pending'),
        testMs: spentIn('testing'),
        inQueueMs: spentIn('pending', ...underTestStates),
        queuedAt: stays.find(({ kind }) => kind === 'pending')?.at ?? null,
        stageChangedAt: stays.at(-1)!.at,
        submittedAt: stays[0]!.at,
      });
      expect(Math.min(waitMs, testMs)).toBeGreaterThanOrEqual(0);
      expect(inQueueMs).toBeGreaterThanOrEqual(waitMs + testMs);
    });
  });

  it('no time is negative when the clock goes back', () => {
    const entry = evolve(
      anEntry({ stage: 'testing', stageChangedAt: later(5000) }),
      {
        kind: 'moved',
        to: aStage('pending'),
        reason: null,
        at: noon,
        actor: 'queue',
      },
      anEntryId,
    );
    expect(entry).toMatchObject({ waitMs: 0, testMs: 0, inQueueMs: 0, restarts: 1 });
  });

  it('restarts are counted within their attempt, asked for or planned', () => {
    eachStep(({ before, facts, after }) => {
      if (after === null) return;
      const again = facts.filter(
        (fact) =>
          fact.kind === 'restart_requested' ||
          (fact.kind === 'moved' && fact.to.kind === 'pending' && before?.stage.kind !== 'not_ready'),
      ).length;
      const sameAttempt = before?.attempt === after.attempt;
      expect(after.restarts).toBe(sameAttempt ? before.restarts + again : 0);
    });
  });
});
