// Draws that several phenomena share.

import { createRandom, drawLogUniform, drawWhole, type Random } from '../random.ts';
import type { Interval } from './truth.ts';
import type { ReportedFailure } from '#core/health/reported-case.ts';

const syllables = [
  'ba',
  'co',
  'di',
  'fu',
  'ge',
  'hi',
  'jo',
  'ka',
  'lu',
  'me',
  'no',
  'pi',
  'ra',
  'so',
  'tu',
  've',
];

/** A word of three syllables: 4,096 of them. */
export const drawWord = (random: Random): string =>
  [0, 1, 2].map(() => syllables[drawWhole(random, syllables.length)]).join('');

export const drawExponential = (random: Random, mean: number): number => -mean * Math.log(1 - random());

/** Instants of a process with this mean distance. */
export function drawInstants(random: Random, from: number, to: number, meanMs: number): number[] {
  const found: number[] = [];
  for (let at = from + drawExponential(random, meanMs); at < to; at += drawExponential(random, meanMs))
    found.push(at);
  return found;
}

export const drawBetween = (random: Random, [from, to]: readonly [number, number]): number =>
  drawLogUniform(random, from, to);

export const isIn = (intervals: readonly Interval[], at: number): boolean =>
  intervals.some(([from, to]) => from <= at && at < to);

/** A stream for one occasion, so that one draw more elsewhere does not move it. */
export const createOccasion = (seed: number, name: string): Random => createRandom(seed, name);

const kept = new Map<string, ReportedFailure>();

/** The same object for the same text. */
export function failureWith(message: string): ReportedFailure {
  const known = kept.get(message) ?? { type: '', message, body: '' };
  kept.set(message, known);
  return known;
}

const errors = ['AssertionError', 'TypeError', 'Error', 'ValueError'];

/** What a defect says: its own words, or those that many say. */
export function drawMessage(random: Random): string {
  const error = errors[drawWhole(random, errors.length)]!;
  const draw = random();
  if (draw < 0.1) return `${error}: expected ${drawWhole(random, 900)} to equal ${drawWhole(random, 900)}`;
  if (draw < 0.5) return `${error}: expected '${drawWord(random)}' to equal '${drawWord(random)}'`;
  if (draw < 0.8) return `${error}: cannot read properties of undefined (reading '${drawWord(random)}')`;
  return `${error}: ${drawWord(random)} of ${drawWord(random)} is not ${drawWord(random)}`;
}
