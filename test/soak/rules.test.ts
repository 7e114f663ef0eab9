import { expect, it } from 'vitest';
import { requiredAt, type Required, type RuleJournal } from './rules.ts';

const test: Required = { name: 'ci/test', app: null };
const gate: Required = { name: 'soak/gate', app: '4242' };

const journal: RuleJournal = new Map([
  [
    'main',
    [
      { askedAt: 0, answeredAt: 10, required: [test] },
      { askedAt: 100_000, answeredAt: 100_100, required: [test, gate] },
      { askedAt: 200_000, answeredAt: 200_100, required: [test] },
    ],
  ],
]);
const namesAt = (at: number) => requiredAt(journal, 'main', at).map(({ name }) => name);

it('requires of a landing what the branch required at that moment, with the App that must report it', () => {
  expect(namesAt(50_000)).toEqual(['ci/test']);
  expect(requiredAt(journal, 'main', 150_000)).toEqual([test, gate]);
  expect(namesAt(250_000)).toEqual(['ci/test']);
});

it('does not hold a landing to rules that changed while it was under way', () => {
  expect(namesAt(100_050)).toEqual(['ci/test']);
  expect(namesAt(105_000)).toEqual(['ci/test']);
  expect(namesAt(205_000)).toEqual(['ci/test']);
});
