// What a failed call means for its caller.
//
//   401                                       forbidden: our credentials are not accepted
//   403 or 429 that mentions limits           rate_limited, with the wait that GitHub asks for
//   403, and every other refusal              forbidden
//   5xx, no answer, a malformed answer        unavailable
//
// Waits are computed by GitHub's clock, which may differ from ours. A message contains only the method and
// path of the request, and credentials are removed from GitHub's message before it is shown or logged.

import { HostError } from '../../host.ts';

export type Failure = {
  /** Zero: there was no answer. */
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

/** The pause if GitHub gives none: the one that its documentation asks for. */
const limitPauseMs = 60_000;
const messageMax = 300;

/** All kinds of GitHub tokens, and the JSON Web Tokens of Apps. */
const credential =
  /\b(gh[a-z]_\w{10,}|github_pat_\w{10,}|v\d\.[0-9a-f]{40})|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+|(bearer|basic|token) +[\w+/=.-]{16,}/gi;

export const withoutSecrets = (text: string, secrets: readonly string[] = []): string =>
  secrets
    .filter((secret) => secret.length >= 5)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
    .replaceAll(credential, '***');

/** The relevant parts of an error that the client threw; null: neither GitHub nor the network caused it. */
export function parseFailure(error: unknown): Failure | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null;
  const response =
    'response' in error ? (error.response as Partial<OctokitErrorResponse> | undefined) : undefined;
  if (response === undefined) return { status: 0, message: error.message, headers: {} };
  return {
    status: error.status,
    message: formatErrorMessage(response.data),
    headers: response.headers ?? {},
  };
}

type OctokitErrorResponse = { readonly headers: Failure['headers']; readonly data: unknown };

/**
 * GitHub's message with its details on single fields; empty for anything else, such as the page of a proxy.
 */
function formatErrorMessage(data: unknown): string {
  if (typeof data !== 'object' || data === null || !('message' in data)) return '';
  const errors = 'errors' in data && Array.isArray(data.errors) ? (data.errors as unknown[]) : [];
  const details = errors.flatMap((error) => {
    if (typeof error === 'string') return [error];
    const { message, field, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof message === 'string') return [message];
    return typeof field === 'string' && typeof code === 'string' ? [`${field} is ${code}`] : [];
  });
  return [String(data.message), ...details].join(': ');
}

/** The wait that GitHub asks for; null: it does not mention limits. */
export function pauseAsked({ status, message, headers }: Failure, now: number): number | null {
  const retryAfter = Number.parseInt(headers['retry-after'] ?? '', 10);
  const isLimit =
    status === 429 || (status === 403 && (retryAfter >= 0 || /rate limit|abuse detection/i.test(message)));
  if (!isLimit) return null;
  if (retryAfter >= 0) return retryAfter * 1_000;
  const reset = Number.parseInt(headers['x-ratelimit-reset'] ?? '', 10);
  if (headers['x-ratelimit-remaining'] !== '0' || Number.isNaN(reset)) return limitPauseMs;
  const theirNow = Date.parse(headers['date'] ?? '');
  // One second more: the limit is lifted after that instant, not at it.
  return Math.max(0, reset * 1_000 - (Number.isNaN(theirNow) ? now : theirNow)) + 1_000;
}

/** `what`: method and path. */
export function toHostError(
  failure: Failure,
  what: string,
  now: number,
  secrets: readonly string[] = [],
): HostError {
  const { status } = failure;
  const said = withoutSecrets(failure.message, secrets).slice(0, messageMax);
  if (status === 0)
    return new HostError('unavailable', `GitHub does not answer ${what}${said === '' ? '' : `: ${said}`}.`);
  const detail = `GitHub answered ${what} with ${status}${said === '' ? '' : `: ${said}`}`;
  const retryAfterMs = pauseAsked(failure, now);
  if (retryAfterMs !== null) return new HostError('rate_limited', detail, { retryAfterMs });
  if (status >= 500 || status < 400) return new HostError('unavailable', detail);
  return new HostError('forbidden', detail);
}
