import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '#base/error.ts';
import type { KeysetPage, PageCursor } from '#db/keyset.ts';
import { cursorFrom, cursorText, type Filter, pageCursorFrom, presentPage } from './page-token.ts';

const filter: Filter = { repository: 'r1', status: 'flaky' };
const other: Filter = { repository: 'r1', status: 'broken' };

const aPage = (overrides: Partial<KeysetPage<unknown>> = {}): KeysetPage<unknown> => ({
  rows: [],
  totalRows: 0,
  before: 0,
  next: null,
  previous: null,
  last: null,
  ...overrides,
});

const cursor: PageCursor = { seek: 'after', key: ['12', '2026-03-02 12:00:00+00', 'x'], before: 50 };
const tokenOf = (next: PageCursor) => presentPage(filter, 25, aPage({ next })).next_page_token;
const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function codeOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

const contentOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>;

describe('a page token', () => {
  it('brings back the position it was made of', () => {
    const cursors = fc.record({
      seek: fc.constantFrom('after', 'before', 'last'),
      key: fc.array(fc.string({ maxLength: 64, unit: 'grapheme-ascii' }), { maxLength: 4 }),
      before: fc.nat(),
    });
    fc.assert(
      fc.property(cursors, (position) => {
        expect(pageCursorFrom(filter, tokenOf(position))).toEqual(position);
      }),
    );
  });

  it('that is empty is the first page', () => {
    expect(pageCursorFrom(filter, '')).toBeNull();
  });

  it('can stand in an address as it is', () => {
    expect(tokenOf({ ...cursor, key: ['???>>>~~~ü'] })).toMatch(/^[\w-]+$/);
  });

  it('of another filter is refused', () => {
    expect(codeOf(() => pageCursorFrom(other, tokenOf(cursor)))).toBe('INVALID_PAGE_TOKEN');
    expect(codeOf(() => pageCursorFrom({ ...filter, more: 1 }, tokenOf(cursor)))).toBe('INVALID_PAGE_TOKEN');
    expect(codeOf(() => pageCursorFrom({ ...filter }, tokenOf(cursor)))).toBeNull();
  });

  it('of a list by another method is refused, even for the same filter', () => {
    const text = cursorText(filter, { seniority: 1, concludedAt: null });
    expect(codeOf(() => pageCursorFrom(filter, text))).toBe('INVALID_PAGE_TOKEN');
    expect(codeOf(() => cursorFrom(filter, tokenOf(cursor)))).toBe('INVALID_PAGE_TOKEN');
  });

  it('that is any text is refused and nothing worse', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => {
        expect(codeOf(() => pageCursorFrom(filter, text))).toBe('INVALID_PAGE_TOKEN');
        expect(codeOf(() => cursorFrom(filter, text))).toBe('INVALID_PAGE_TOKEN');
      }),
    );
  });

  it.each([
    ['null', null],
    ['a list', []],
    ['an unknown way', { s: 'around' }],
    ['a key that is no list', { k: 'x' }],
    ['a key that holds a number', { k: [1] }],
    ['a key of too many parts', { k: ['1', '2', '3', '4', '5'] }],
    ['a key with a long part', { k: ['x'.repeat(65)] }],
    ['a negative place', { b: -1 }],
    ['half a place', { b: 0.5 }],
    ['no fingerprint', { f: undefined }],
  ])('that was changed to hold %s is refused', (_what, change) => {
    const isWhole = change === null || Array.isArray(change);
    const token = forged(isWhole ? change : { ...contentOf(tokenOf(cursor)), ...change });
    expect(codeOf(() => pageCursorFrom(filter, token))).toBe('INVALID_PAGE_TOKEN');
  });
});

describe('the page of an answer', () => {
  it('has no tokens when there is one page only', () => {
    expect(presentPage(filter, 25, aPage())).toEqual({
      total_rows: 0,
      total_pages: 0,
      next_page_token: '',
      prev_page_token: '',
      last_page_token: '',
      page_index: 0,
    });
  });

  it.each([
    [1, 25, 1],
    [25, 25, 1],
    [26, 25, 2],
    [100, 1, 100],
  ])('counts %i rows in pages of %i as %i', (totalRows, size, pages) => {
    expect(presentPage(filter, size, aPage({ totalRows }))).toMatchObject({
      total_rows: totalRows,
      total_pages: pages,
    });
  });

  it.each([
    [0, 0],
    [24, 0],
    [25, 1],
    [74, 2],
  ])('with %i rows before it has the index %i', (before, index) => {
    expect(presentPage(filter, 25, aPage({ before })).page_index).toBe(index);
  });

  it('has each token where it belongs', () => {
    const next = cursor;
    const previous: PageCursor = { seek: 'before', key: ['3'], before: 25 };
    const last: PageCursor = { seek: 'last', key: [], before: 75 };
    const page = presentPage(filter, 25, aPage({ next, previous, last }));
    expect(pageCursorFrom(filter, page.next_page_token)).toEqual(next);
    expect(pageCursorFrom(filter, page.prev_page_token)).toEqual(previous);
    expect(pageCursorFrom(filter, page.last_page_token)).toEqual(last);
  });
});

describe('a cursor', () => {
  it.each([
    { seniority: 7, concludedAt: null },
    { seniority: 0, concludedAt: new Date('2026-03-02T12:00:00.123Z') },
    { seniority: 1, concludedAt: new Date(0) },
  ])('brings back %j', (position) => {
    expect(cursorFrom(filter, cursorText(filter, position))).toEqual(position);
  });

  it('of another filter is refused', () => {
    const text = cursorText(filter, { seniority: 7, concludedAt: null });
    expect(codeOf(() => cursorFrom(other, text))).toBe('INVALID_PAGE_TOKEN');
  });

  it('is refused when empty: the first page has none', () => {
    expect(codeOf(() => cursorFrom(filter, ''))).toBe('INVALID_PAGE_TOKEN');
  });

  it('of a window is bound to its very instants', () => {
    const since = (text: string) => ({ ...filter, since: new Date(text) });
    const text = cursorText(since('2026-03-02T12:00:00.000Z'), { seniority: 7, concludedAt: null });
    expect(codeOf(() => cursorFrom(since('2026-03-02T12:00:00.001Z'), text))).toBe('INVALID_PAGE_TOKEN');
    expect(codeOf(() => cursorFrom(since('2026-03-02T13:00:00.000+01:00'), text))).toBeNull();
  });

  it('that holds an instant no Date can be is refused', () => {
    const text = cursorText(filter, { seniority: 7, concludedAt: null });
    const beyond = forged({ ...contentOf(text), c: 8.64e15 + 1 });
    expect(codeOf(() => cursorFrom(filter, beyond))).toBe('INVALID_PAGE_TOKEN');
  });
});
