import { describe, expect, it } from 'vitest';
import { nextUsual } from './ingest-usual.ts';

const a = Buffer.from('a');
const b = Buffer.from('b');
const settled = { usualShape: a, usualAgreed: 9, usualMissed: 0 };

describe('what a job usually runs', () => {
  it('is what its first upload ran, and follows one that has all of it', () => {
    const first = nextUsual(undefined, null, a);
    expect(first).toEqual({ usualShape: a, usualAgreed: 1, usualMissed: 0 });
    expect(nextUsual(first, { usual: 100, missing: 0 }, b)).toEqual({
      usualShape: b,
      usualAgreed: 2,
      usualMissed: 0,
    });
  });

  it('is not changed by an upload that is cut off', () => {
    expect(nextUsual(settled, { usual: 100, missing: 60 }, null)).toEqual(settled);
  });

  it('stays when one upload lacks tests, and is given up when five in a row do', () => {
    let usual = nextUsual(settled, { usual: 100, missing: 40 }, b);
    expect(usual).toEqual({ usualShape: a, usualAgreed: 9, usualMissed: 1 });
    for (let more = 0; more < 4; more++) usual = nextUsual(usual, { usual: 100, missing: 40 }, b);
    expect(usual).toEqual({ usualShape: b, usualAgreed: 1, usualMissed: 0 });
  });

  it('is never settled for a name that stands for ever other tests', () => {
    let usual = nextUsual(undefined, null, a);
    for (let upload = 0; upload < 20; upload++)
      usual = nextUsual(usual, { usual: 100, missing: 100 }, upload % 2 === 0 ? b : a);
    expect(usual.usualAgreed).toBe(1);
  });
});
