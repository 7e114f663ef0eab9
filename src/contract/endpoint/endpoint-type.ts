// The description of every endpoint, and the groups in which the documentation shows them.

import type { z } from 'zod';
import type { ErrorCode } from '#base/error.ts';
import type { Scope } from '../common.ts';

export const tags = {
  'Pull requests': 'Submitting pull requests and following them.',
  Queues: 'Creating, configuring, pausing and draining queues.',
  'Test runs': 'Current and past test runs of a queue.',
  Metrics: 'Queue metrics for Prometheus.',
  'Test health': 'Flaky, broken and quarantined tests.',
  Uploads: 'Uploading test reports and reading the results.',
  Organization: 'The organization of a token, and API tokens.',
  Webhooks: 'Webhook endpoints that receive events, and deliveries.',
  Sandbox: 'The control API of the built-in sandbox host.',
} as const;

export type Endpoint = {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  /** A token needs one of these; an empty list accepts any valid token. */
  readonly scopes: readonly Scope[];
  readonly tag: keyof typeof tags;
  readonly summary: string;
  /** The JSON body of a POST; the query of a GET, and of a POST whose body is not JSON. */
  readonly request: z.ZodType;
  /** A body that is not JSON and may have any type: handed to its handler as it comes, or ignored. */
  readonly body?: 'report' | 'ignored';
  /** It also takes its token as `Authorization: Bearer`, for clients that cannot send another header. */
  readonly takesBearer?: true;
  /** Null: plain text. */
  readonly response: z.ZodType | null;
  /** In addition to the errors that every endpoint has (commonErrors). */
  readonly errors: readonly ErrorCode[];
};
