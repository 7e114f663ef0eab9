import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { lenientEnum } from '#contract/common.ts';
import { parseInput } from './validate.ts';

const schema = z.object({
  repo: z.object({ host: z.string(), owner: z.string() }),
  count: z.int().min(1).max(5).optional(),
  kind: lenientEnum(['ONE', 'TWO']),
  list: z.array(z.string()).default([]),
});

const valid = { repo: { host: 'h', owner: 'o' }, kind: 'one' };

function errorOf(input: unknown, by: z.ZodType = schema) {
  const result = parseInput(by, input);
  if (result.kind === 'parsed') throw new Error('it was accepted');
  return result.error;
}

describe('input that is valid', () => {
  it('comes out as the schema makes it: defaults filled in, unknown keys left out', () => {
    expect(parseInput(schema, { ...valid, unknown: 1 })).toEqual({
      kind: 'parsed',
      value: { repo: { host: 'h', owner: 'o' }, kind: 'ONE', list: [] },
    });
  });
});

describe('input that is not valid', () => {
  it('is a validation error with every problem by its path', () => {
    const error = errorOf({ repo: { host: 1 }, count: 9, kind: 'three', list: ['a', 2] });
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
    expect(error.details?.map(({ path }) => path)).toEqual([
      'repo.host',
      'repo.owner',
      'count',
      'kind',
      'list.1',
    ]);
  });

  it('says of what is missing that it is required, however deep and of whatever type', () => {
    expect(errorOf({ repo: { host: 'h' } }).details).toEqual([
      { path: 'repo.owner', message: 'is required' },
      { path: 'kind', message: 'is required' },
    ]);
    expect(errorOf({ kind: 'one' }).details).toEqual([{ path: 'repo', message: 'is required' }]);
  });

  it('does not say that of what is there and null', () => {
    expect(errorOf({ ...valid, repo: null }).details).toEqual([
      { path: 'repo', message: expect.not.stringContaining('required') as string },
    ]);
  });

  it('names its first problem in the message, and how many more there are', () => {
    expect(errorOf({ kind: 'one' }).message).toBe('The request is not valid: repo is required.');
    expect(errorOf({ repo: { host: 'h' } }).message).toBe(
      'The request is not valid: repo.owner is required (and 1 more; see details).',
    );
  });

  it('of the whole body is reported without a path', () => {
    const error = errorOf([]);
    expect(error.details).toEqual([
      { path: '', message: expect.stringContaining('expected object') as string },
    ]);
    expect(error.message).toMatch(/^The request is not valid: \S/);
    expect(error.message).toContain('expected object');
  });

  it('lists a hundred problems at most', () => {
    const error = errorOf(
      { list: Array.from({ length: 500 }, () => 1) },
      z.object({ list: z.array(z.string()) }),
    );
    expect(error.details).toHaveLength(100);
    expect(error.details?.at(-1)?.path).toBe('list.99');
  });

  it('is reported with the schema’s own message if it has one', () => {
    const own = z.object({ name: z.string().regex(/^a/, 'must begin with a') });
    expect(errorOf({ name: 'b' }, own)).toMatchObject({
      message: 'The request is not valid: name must begin with a.',
      details: [{ path: 'name', message: 'must begin with a' }],
    });
  });
});
