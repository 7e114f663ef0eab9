// Turns anything thrown into the error envelope. An unexpected error is logged whole and not shown.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, appError } from '#base/error.ts';
import type { Log } from '#base/log.ts';
import type { ErrorBody } from '#contract/common.ts';
import { isDatabaseAway, isDatabaseSlow } from '#db/away.ts';
import { HostError } from '#host/host.ts';

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof SyntaxError)
    return appError('MALFORMED_JSON', {
      public: 'The request body is not valid JSON. Correct it and send the request again.',
      cause: error,
    });
  if (error instanceof HostError)
    return appError('HOST_ERROR', {
      public:
        error.trouble === 'forbidden'
          ? 'The Git host refused the request. Check that Signalbox may read this repository.'
          : 'The Git host does not answer. Try again in a moment.',
      cause: error,
      retryAfterSeconds: Math.ceil((error.retryAfterMs ?? 2_000) / 1_000),
    });
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return appError('BODY_TOO_LARGE', {
        public: 'The request body is larger than 20 MiB. Send "ALL" instead of a very long list of targets.',
        cause: error,
      });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return appError('UNSUPPORTED_MEDIA_TYPE', {
        public: 'Send the request body as JSON, with the header Content-Type: application/json.',
        cause: error,
      });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return appError('MALFORMED_JSON', {
        public: 'The request body is not valid JSON. Correct it and send the request again.',
        cause: error,
      });
    default:
  }
  if (isDatabaseAway(error))
    return appError('UNAVAILABLE', {
      public: 'The database cannot be reached. Try again in a moment.',
      cause: error,
      retryAfterSeconds: 2,
    });
  if (isDatabaseSlow(error))
    return appError('UNAVAILABLE', {
      public: 'The database took too long. Request less data at once, or try again in a moment.',
      cause: error,
      retryAfterSeconds: 5,
    });
  // Refused by the HTTP layer itself (a header too large, a broken request line).
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return appError('MALFORMED_JSON', {
      public: 'The request is malformed. Check its headers and its request line.',
      cause: error,
    });
  return appError('INTERNAL', {
    public: 'Signalbox failed unexpectedly. Send the request ID to its administrator.',
    cause: error,
  });
}

export function sendError(log: Log, request: FastifyRequest, reply: FastifyReply, error: AppError): void {
  const body: ErrorBody = {
    error: {
      code: error.code,
      message: error.message,
      requestId: request.id,
      ...(error.details === undefined ? {} : { details: error.details.map((detail) => ({ ...detail })) }),
    },
  };
  if (error.status >= 500)
    log.error({ requestId: request.id, code: error.code, err: error.cause ?? error }, 'request failed');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  // The rest of the body is not read.
  if (error.code === 'BODY_TOO_LARGE') reply.header('connection', 'close');
  if (error.allow !== undefined) reply.header('allow', error.allow);
  reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
