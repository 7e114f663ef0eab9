import { expect, it } from 'vitest';
import { AppError, appError, type ErrorCode, errorRegistry } from './error.ts';

// The table of contract.md 1.1. A code may be added, never renamed or moved to another status: clients depend on them.
const statuses: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ['VALIDATION_FAILED', 'MALFORMED_JSON', 'INVALID_PAGE_TOKEN'],
  401: ['AUTHENTICATION_REQUIRED', 'INVALID_TOKEN'],
  403: ['INSUFFICIENT_SCOPE'],
  404: [
    'ROUTE_NOT_FOUND',
    'ORGANIZATION_NOT_FOUND',
    'REPOSITORY_NOT_FOUND',
    'QUEUE_NOT_FOUND',
    'PULL_REQUEST_NOT_FOUND',
    'PULL_REQUEST_NOT_SUBMITTED',
    'TEST_RUN_NOT_FOUND',
    'TEST_CASE_NOT_FOUND',
  ],
  405: ['METHOD_NOT_ALLOWED'],
  409: [
    'QUEUE_ALREADY_EXISTS',
    'QUEUE_NOT_EMPTY',
    'MODE_CHANGE_IN_PROGRESS',
    'PULL_REQUEST_NOT_IN_QUEUE',
    'TESTS_NOT_RESTARTABLE',
    'PULL_REQUEST_NOT_ENQUEUEABLE',
  ],
  413: ['BODY_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  429: ['RATE_LIMITED'],
  500: ['INTERNAL'],
  502: ['HOST_ERROR'],
  503: ['UNAVAILABLE'],
};

it.each(Object.entries(statuses))('the codes of the contract with status %s have it', (status, codes) => {
  expect(codes.map((code) => [code, errorRegistry[code].status])).toEqual(
    codes.map((code) => [code, Number(status)]),
  );
});

it('every code has a status of an error and a meaning that is a sentence', () => {
  for (const [code, { status, meaning }] of Object.entries(errorRegistry)) {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(status >= 400 && status < 600).toBe(true);
    expect(meaning).toMatch(/^[A-Z`].*\.$/);
  }
});

it('an error shows its public message and the status of its code, and keeps the cause for the log', () => {
  const cause = new Error('the secret reason');
  const error = appError('QUEUE_NOT_FOUND', { public: 'No such queue.', cause });
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({
    name: 'AppError',
    code: 'QUEUE_NOT_FOUND',
    status: 404,
    message: 'No such queue.',
    cause,
  });
});

it('an error without a cause has none, rather than an undefined one', () => {
  expect('cause' in appError('INTERNAL', { public: 'x' })).toBe(false);
});

it('an error carries what its headers and details are made of', () => {
  const details = [{ path: 'pr', message: 'is required' }];
  const options = { public: 'x', details, retryAfterSeconds: 3, allow: 'POST' };
  expect(appError('RATE_LIMITED', options)).toMatchObject({ details, retryAfterSeconds: 3, allow: 'POST' });
});
