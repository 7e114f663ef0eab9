// What a failed call means for whoever made it.
//
//   401                                  forbidden: our credentials are not accepted
//   403 or 429 that speaks of limits     rate_limited, with what GitHub wants us to wait
//   403, and all else that it refuses    forbidden
//   5xx, no answer, one that makes no sense   unavailable
//
// Waiting is told in GitHub's own time: its clock and ours may differ. Nothing of a request is in a message but its
// method and path, and what GitHub said is searched for credentials before anybody sees it.

import { HostError } from '../host.ts';

export type Failure = {
  /** Zero: there was no answer. */
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

/** Where GitHub does not say how long: what it asks for in its documentation. */
const limitPauseMs = 60_000;
const messageMax = 300;

/** Tokens of GitHub, of whatever sort, and the JSON Web Tokens of Apps. */
const credential =
  /\b(gh[a-z]_\w{10,}|github_pat_\w{10,}|v\d\.[0-9a-f]{40})|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+|(bearer|basic|token) +[\w+/=.-]{16,}/gi;

export const withoutSecrets = (text: string, secrets: readonly string[] = []): string =>
  secrets
    .filter((secret) => secret.length >= 5)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
    .replaceAll(credential, '***');

/** What the client threw, as far as anybody looks at it; null: it is nothing that GitHub or the way to it did. */
export function failureOf(error: unknown): Failure | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null;
  const response = 'response' in error ? (error.response as Partial<Response> | undefined) : undefined;
  if (response === undefined) return { status: 0, message: error.message, headers: {} };
  return { status: error.status, message: wordsOf(response.data), headers: response.headers ?? {} };
}

type Response = { readonly headers: Failure['headers']; readonly data: unknown };

/** GitHub's message with what it says of single fields; of anything else, such as a page of a proxy, nothing. */
function wordsOf(data: unknown): string {
  if (typeof data !== 'object' || data === null || !('message' in data)) return '';
  const errors = 'errors' in data && Array.isArray(data.errors) ? (data.errors as unknown[]) : [];
  const details = errors.flatMap((error) => {
    if (typeof error === 'string') return [error];
    const told = error as { readonly message?: unknown } | null;
    return typeof told?.message === 'string' ? [told.message] : [];
  });
  return [String(data.message), ...details].join(': ');
}

/** What GitHub asks us to wait; null: it does not speak of limits. */
export function pauseAsked({ status, message, headers }: Failure, now: number): number | null {
  const retryAfter = Number.parseInt(headers['retry-after'] ?? '', 10);
  const isLimit =
    status === 429 || (status === 403 && (retryAfter >= 0 || /rate limit|abuse detection/i.test(message)));
  if (!isLimit) return null;
  if (retryAfter >= 0) return retryAfter * 1_000;
  const reset = Number.parseInt(headers['x-ratelimit-reset'] ?? '', 10);
  if (headers['x-ratelimit-remaining'] !== '0' || Number.isNaN(reset)) return limitPauseMs;
  const theirNow = Date.parse(headers['date'] ?? '');
  // A second more: the limit is lifted after the instant, not at it.
  return Math.max(0, reset * 1_000 - (Number.isNaN(theirNow) ? now : theirNow)) + 1_000;
}

/** `what`: method and path. */
export function troubleOf(
  failure: Failure,
  what: string,
  now: number,
  secrets: readonly string[] = [],
): HostError {
  const { status } = failure;
  const said = withoutSecrets(failure.message, secrets).slice(0, messageMax);
  if (status === 0)
    return new HostError('unavailable', `GitHub does not answer ${what}${said === '' ? '' : `: ${said}`}.`);
  const told = `GitHub answered ${what} with ${status}${said === '' ? '' : `: ${said}`}`;
  const retryAfterMs = pauseAsked(failure, now);
  if (retryAfterMs !== null) return new HostError('rate_limited', told, { retryAfterMs });
  if (status >= 500 || status < 400) return new HostError('unavailable', told);
  return new HostError('forbidden', told);
}
