// Every error that can reach a client, in one registry. docs/reference/errors.md is generated from it.

type ErrorEntry = { readonly status: number; readonly meaning: string };

export const errorRegistry = {
  VALIDATION_FAILED: {
    status: 400,
    meaning: 'One or more fields of the request are not valid; `details` lists all of them.',
  },
  MALFORMED_JSON: { status: 400, meaning: 'The request body is not valid JSON.' },
  NOT_A_REPORT: {
    status: 400,
    meaning: 'The body is not a test report in a supported format; nothing was stored.',
  },
  INVALID_PAGE_TOKEN: {
    status: 400,
    meaning: 'The page token was not issued by this service, or belongs to another filter.',
  },
  WEBHOOK_URL_REFUSED: {
    status: 400,
    meaning: 'Signalbox may not send requests to this URL; the message says why.',
  },
  AUTHENTICATION_REQUIRED: { status: 401, meaning: 'The `x-api-token` header is missing or empty.' },
  INVALID_TOKEN: { status: 401, meaning: 'The token is unknown, revoked or expired.' },
  ID_TOKEN_INVALID: {
    status: 401,
    meaning:
      'The identity token of the CI job is not signed by its issuer, has expired, or is meant for another service.',
  },
  CI_JOB_REFUSED: {
    status: 403,
    meaning: 'The organization does not let in this CI job; the message says why.',
  },
  INSUFFICIENT_SCOPE: { status: 403, meaning: 'The token is valid but lacks the scope this call needs.' },
  CROSS_SITE_REFUSED: {
    status: 403,
    meaning:
      'A request to the dashboard API did not come from the dashboard’s own pages, or a server on loopback received a request for another host name.',
  },
  UPLOAD_ADDRESS_INVALID: {
    status: 403,
    meaning: 'This installation did not issue the upload URL, or the URL was changed.',
  },
  UPLOAD_ADDRESS_EXPIRED: { status: 403, meaning: 'The upload URL has expired; request a new one.' },
  ROUTE_NOT_FOUND: { status: 404, meaning: 'No such path.' },
  ORGANIZATION_NOT_FOUND: { status: 404, meaning: '`org_url_slug` is not the organization of the token.' },
  REPOSITORY_NOT_FOUND: {
    status: 404,
    meaning: 'No host connection of the organization reaches this repository.',
  },
  QUEUE_NOT_FOUND: { status: 404, meaning: 'The branch has no merge queue.' },
  PULL_REQUEST_NOT_FOUND: { status: 404, meaning: 'The Git host has no such pull request.' },
  PULL_REQUEST_NOT_SUBMITTED: {
    status: 404,
    meaning: 'The pull request was never submitted to this queue.',
  },
  LANDING_NOT_FOUND: { status: 404, meaning: 'The queue has merged no such commit or pull request.' },
  TEST_RUN_NOT_FOUND: { status: 404, meaning: 'The queue has no such test run.' },
  TEST_CASE_NOT_FOUND: { status: 404, meaning: 'The repository has no such test case.' },
  UPLOAD_NOT_FOUND: { status: 404, meaning: 'The repository has no such upload.' },
  TOKEN_NOT_FOUND: { status: 404, meaning: 'The organization has no such API token.' },
  WEBHOOK_ENDPOINT_NOT_FOUND: { status: 404, meaning: 'The organization has no such webhook endpoint.' },
  WEBHOOK_DELIVERY_NOT_FOUND: { status: 404, meaning: 'The webhook endpoint has no such delivery.' },
  CONNECTION_NOT_FOUND: {
    status: 404,
    meaning: 'No connection has this webhook URL, or the organization has no such connection.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path exists, but not for this method; see the `Allow` header.',
  },
  QUEUE_ALREADY_EXISTS: { status: 409, meaning: 'The branch already has a merge queue.' },
  QUEUE_NOT_EMPTY: { status: 409, meaning: 'The queue still holds pull requests.' },
  MODE_CHANGE_IN_PROGRESS: {
    status: 409,
    meaning: 'The queue is switching modes; its mode and state cannot be set until that is done.',
  },
  PULL_REQUEST_NOT_IN_QUEUE: { status: 409, meaning: 'The pull request has already merged or failed.' },
  TESTS_NOT_RESTARTABLE: { status: 409, meaning: 'The pull request has no tests to restart.' },
  PULL_REQUEST_NOT_ENQUEUEABLE: {
    status: 409,
    meaning: 'The pull request is closed or already merged on the Git host.',
  },
  UPLOAD_ALREADY_STORED: {
    status: 409,
    meaning: 'The upload URL was already used for another upload, or an upload to it is in progress.',
  },
  SECRET_KEY_MISSING: {
    status: 409,
    meaning: 'The installation has no key to encrypt secrets, or not the key that encrypted them.',
  },
  GIT_HOST_NOT_ALLOWED: {
    status: 403,
    meaning:
      'This installation does not let administrators connect a Git host at this URL; the message says why.',
  },
  CREDENTIALS_REFUSED: {
    status: 409,
    meaning: 'The Git host does not accept the credentials; the message says why.',
  },
  HOST_ALREADY_CONNECTED: {
    status: 409,
    meaning: 'The organization is connected to this Git host already.',
  },
  APP_REGISTRATION_UNKNOWN: {
    status: 409,
    meaning: 'The registration of an App was begun by someone else, or more than an hour ago. Start over.',
  },
  WEBHOOK_LIMIT_REACHED: {
    status: 409,
    meaning: 'The organization has reached its limit of webhook endpoints.',
  },
  WEBHOOK_NOT_SIGNED: { status: 409, meaning: 'Messages to a chat are not signed, so there is no secret.' },
  FIX_NOT_VERIFIABLE: {
    status: 409,
    meaning: 'The fix of the test cannot be verified; the message says why.',
  },
  SANDBOX_REFUSED: {
    status: 409,
    meaning: 'The sandbox host refused the request to its control API; the message says why.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    meaning: 'The request body is larger than the limit: 20 MiB, or the configured size for upload URLs.',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The request body is not `application/json`.' },
  RATE_LIMITED: {
    status: 429,
    meaning: 'The organization has reached its rate limit; `Retry-After` says when to continue.',
  },
  INTERNAL: { status: 500, meaning: 'A defect in Signalbox. Search the log for the request ID.' },
  HOST_ERROR: { status: 502, meaning: 'The Git host answered with an error.' },
  ISSUER_UNREACHABLE: {
    status: 502,
    meaning: 'The keys of the issuer of an identity token could not be read.',
  },
  UNAVAILABLE: {
    status: 503,
    meaning: 'The database is unreachable or the service is shutting down; try again after `Retry-After`.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorRegistry;

export type ErrorDetail = { readonly path: string; readonly message: string };

type AppErrorOptions = {
  /** Written for a person; says what to do next. */
  readonly public: string;
  readonly cause?: unknown;
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number;
  readonly allow?: string;
};

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions) {
    super(options.public, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }

  get status(): number {
    return errorRegistry[this.code].status;
  }
}

export function appError(code: ErrorCode, options: AppErrorOptions): AppError {
  return new AppError(code, options);
}
