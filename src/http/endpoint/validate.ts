// Parses input to a typed request, or reports all its problems at once.

import type { z } from 'zod';
import { appError, type AppError, type ErrorDetail } from '#base/error.ts';

type ParseResult<Output> =
  | { readonly kind: 'parsed'; readonly value: Output }
  | { readonly kind: 'invalid'; readonly error: AppError };

/** Problems listed at most: enough to fix a request by, small enough to read. */
const detailsMax = 100;

export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): ParseResult<z.output<Schema>> {
  const result = schema.safeParse(input, {
    error: (issue) => (issue.input === undefined ? 'is required' : undefined),
  });
  if (result.success) return { kind: 'parsed', value: result.data };
  const details = result.error.issues
    .slice(0, detailsMax)
    .map((issue): ErrorDetail => ({ path: issue.path.map(String).join('.'), message: issue.message }));
  const [first] = details;
  const where = first && first.path !== '' ? `${first.path} ${uncapitalized(first.message)}` : first?.message;
  const rest = details.length > 1 ? ` (and ${details.length - 1} more; see details)` : '';
  return {
    kind: 'invalid',
    error: appError('VALIDATION_FAILED', { public: `The request is not valid: ${where}${rest}.`, details }),
  };
}

const uncapitalized = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);
