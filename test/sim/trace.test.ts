import { describe, expect, it } from 'vitest';
import { parseTrace } from './trace.ts';

describe('a trace', () => {
  const change = { number: 12, arrivesAtMin: 3, durationMin: 10, isGood: true };
  const later = { ...change, number: 7, arrivesAtMin: 5, shares: [12], conflictsWith: [12] };

  it('is read with defaults and put in order of arrival and time', () => {
    const disturbances = [
      { kind: 'push', number: 7, atMin: 9 },
      { kind: 'cancel', number: 12, atMin: 4 },
    ];
    const workload = parseTrace({ changes: [later, change], disturbances });
    expect(workload.changes.map(({ number }) => number)).toEqual([12, 7]);
    expect(workload.changes[0]).toMatchObject({ shares: [], conflictsWith: [], predictedPass: 0.9 });
    expect(workload.disturbances.map(({ atMin }) => atMin)).toEqual([4, 9]);
    expect(workload).toMatchObject({ name: 'trace', seed: 1, flakeProbability: 0 });
  });

  it.each([
    ['Unrecognized key', { changes: [change], colour: 'red' }],
    ['Too small', { changes: [] }],
    ['Change 12 appears twice', { changes: [change, change] }],
    ['Change 12 shares with 7', { changes: [{ ...change, shares: [7] }, later] }],
    ['Change 7 conflicts with 12', { changes: [change, { ...later, shares: [] }] }],
    ['push names change 99', { changes: [change], disturbances: [{ kind: 'push', number: 99, atMin: 4 }] }],
  ])('is refused with a message: %s', (message, json) => {
    expect(() => parseTrace(json)).toThrow(message);
  });
});
