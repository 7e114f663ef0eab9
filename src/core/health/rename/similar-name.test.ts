import { describe, expect, it } from 'vitest';
import { isSimilarName } from './similar-name.ts';

describe('two wordings of one name', () => {
  it.each([
    ['adds two numbers', 'adds two positive numbers'],
    ['retruns null', 'returns null'],
    ['addsTwoNumbers', 'adds two numbers'],
    ['test_adds_two_numbers', 'should adds two numbers'],
    ['shows the cart of a new customer', 'shows the basket of a new customer'],
  ])('“%s” and “%s” are similar', (before, after) => {
    expect(isSimilarName(before, after)).toBe(true);
    expect(isSimilarName(after, before)).toBe(true);
  });
});

describe('names of different tests', () => {
  it.each([
    ['returns 404', 'returns 403'],
    ['handles version 1 of the protocol', 'handles version 2 of the protocol'],
    ['accepts valid input of a user', 'accepts invalid input of a user'],
    ['does not merge an open change', 'does merge an open change'],
    ['test_login', 'test_logout'],
    ['returns true', 'returns false'],
    ['works with postgres', 'works with mysql'],
    ['adds an item', 'removes an item'],
    ['', 'adds'],
    ['test', 'spec'],
  ])('“%s” and “%s” are not', (before, after) => {
    expect(isSimilarName(before, after)).toBe(false);
    expect(isSimilarName(after, before)).toBe(false);
  });
});
