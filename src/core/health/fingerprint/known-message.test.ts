import { describe, expect, it } from 'vitest';
import { fingerprintFailure } from './fingerprint.ts';
import { createMessageReader, type KnownFlakes } from './known-message.ts';

const hash = (text: string): string => Buffer.from(text).toString('hex').padEnd(16, '0').slice(-64);

const isKnownMessage = (text: string, name: string, flakes: KnownFlakes): boolean =>
  createMessageReader(hash).isKnown(text, name, flakes);

const flakesOf = (type: string, message: string, body = '') => {
  const { key, summary } = fingerprintFailure({ type, message, body }, 'adds', hash);
  return { keys: [key], summaries: [summary] };
};

describe('a failure that is recognized by its text alone', () => {
  it.each([
    ['', 'Timeout of 5000ms exceeded', '', 'Timeout of 5003ms exceeded'],
    ['AssertionError', 'expected 1 to be 2', '', 'expected 3 to be 4'],
    ['java.lang.AssertionError', 'expected 1', 'at com.acme.Sum.adds(Sum.java:3)', 'expected 7'],
    ['AssertionError', `expected ${'a word '.repeat(60)}`, '', `expected ${'a word '.repeat(60)}`],
  ])('is known if a report said the same, with its type %j', (type, message, body, text) => {
    expect(isKnownMessage(text, 'adds', flakesOf(type, message, body))).toBe(true);
  });

  it.each([
    ['', 'Timeout of 5000ms exceeded', 'expected 2, got 3'],
    ['AssertionError', 'expected 1 to be 2', 'expected'],
    ['AssertionError', 'expected 1 to be 2', 'be 2'],
    ['AssertionError', 'lost the connection: timed out', 'timed out'],
  ])('is not known if it says another thing: %j %j, %j', (type, message, text) => {
    expect(isKnownMessage(text, 'adds', flakesOf(type, message))).toBe(false);
  });

  it('is read once for all tests that have it, but not where it is a test’s own name', () => {
    const flakes = flakesOf('', 'Timeout of 5000ms exceeded');
    let hashed = 0;
    const reader = createMessageReader((text) => {
      hashed += 1;
      return hash(text);
    });
    for (const name of ['adds', 'divides', '', 'subtracts'])
      expect(reader.isKnown('Timeout of 5000ms exceeded', name, flakes)).toBe(true);
    // The empty name is in every text.
    expect(hashed).toBe(1);
    expect(reader.isKnown('adds', 'adds', flakes)).toBe(false);
    expect(reader.isKnown('adds', 'divides', flakes)).toBe(false);
    expect(hashed).toBe(5);
  });

  it('is not known where nothing is', () => {
    expect(isKnownMessage('anything', 'adds', { keys: [], summaries: [] })).toBe(false);
  });
});
