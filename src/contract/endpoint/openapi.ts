// The published contract: OpenAPI 3.1, generated from the schemas that validate.

import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { z } from 'zod';
import { errorRegistry, type ErrorCode } from '#base/error.ts';
import { ErrorBody } from '../common.ts';
import { type Endpoint, tags } from './endpoint-type.ts';
import { commonErrors, endpoints } from './endpoint.ts';
import { exchangeCiToken } from './endpoint-token.ts';
import { webhookBodies } from '../webhook-event.ts';

type OpenApiJson =
  null | boolean | number | string | readonly OpenApiJson[] | { readonly [key: string]: OpenApiJson };

type DocumentOptions = {
  readonly publicUrl: string;
  readonly version: string;
  /** Refuse fields that the schemas do not name, for tests of responses. The published document is open. */
  readonly strict?: boolean;
};

export function openApiDocument({ publicUrl, version, strict = false }: DocumentOptions): OpenApiJson {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const [operation, endpoint] of Object.entries(endpoints))
    paths[endpoint.path] = { [endpoint.method.toLowerCase()]: describeOperation(operation, endpoint) };
  paths[exchangeCiToken.path] = {
    post: {
      ...describeOperation('exchangeCiToken', exchangeCiToken),
      description: 'Needs no token.',
      security: [],
    },
  };

  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version,
      description: 'A self-hosted merge queue and test-health service.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiToken: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(webhookBodies).map(([type, body]) => [type, { post: describeWebhookEvent(type, body) }]),
    ),
    components: {
      securitySchemes: {
        apiToken: { type: 'apiKey', in: 'header', name: 'x-api-token' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same token, for clients of Prometheus.' },
      },
    },
  });
  const plain = JSON.parse(JSON.stringify(document)) as OpenApiJson;
  return strict ? plain : opened(plain);
}

/** Unknown request keys are ignored and responses may gain fields, so the published objects are open. */
function opened(value: OpenApiJson): OpenApiJson {
  if (Array.isArray(value)) return value.map(opened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(key === 'additionalProperties' && inner === false))
      .map(([key, inner]) => [key, opened(inner)]),
  );
}

function describeOperation(operation: string, endpoint: Endpoint): ZodOpenApiOperationObject {
  const scopes = endpoint.scopes.length === 0 ? 'any scope' : `scope ${endpoint.scopes.join(' or ')}`;
  const content = endpoint.response
    ? { 'application/json': { schema: endpoint.response } }
    : { 'text/plain; version=0.0.4; charset=utf-8': { schema: { type: 'string' as const } } };
  return {
    operationId: operation,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: `Needs a token with ${scopes}.`,
    ...(endpoint.takesBearer === true ? { security: [{ apiToken: [] }, { bearer: [] }] } : {}),
    ...describeInput(endpoint),
    responses: {
      '200': { description: 'Success', headers: requestIdHeader, content },
      ...errorResponses([...commonErrors, ...endpoint.errors]),
    },
  };
}

/** An event that Signalbox sends, as an operation of its receiver. */
function describeWebhookEvent(type: string, body: z.ZodType): ZodOpenApiOperationObject {
  const header = (name: string, description: string) => ({
    name,
    in: 'header' as const,
    required: true,
    description,
    schema: { type: 'string' as const },
  });
  return {
    operationId: `on-${type}`,
    tags: ['Webhooks'],
    summary: `Sent to webhook endpoints that subscribe to ${type}`,
    security: [],
    parameters: [
      header('webhook-id', 'The id of the event; the same in every attempt to deliver it.'),
      header('webhook-timestamp', 'The time of this attempt, in seconds since 1970.'),
      header(
        'webhook-signature',
        'The signature as the Standard Webhooks specification defines it: `v1,` and a base64 HMAC-SHA256.',
      ),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      '2XX': { description: 'The endpoint accepted the event.' },
      '410': { description: 'The receiver is gone: Signalbox disables the endpoint.' },
    },
  };
}

type Input = Pick<ZodOpenApiOperationObject, 'requestBody' | 'requestParams'>;

const bytes = { schema: { type: 'string' as const, format: 'binary' } };

function describeInput({ method, body, request }: Endpoint): Input {
  if (method === 'POST' && body === undefined)
    return { requestBody: { required: true, content: { 'application/json': { schema: request } } } };
  // Only the schema of a query is documented, not the transformation before it.
  const query = (request instanceof z.ZodPipe ? request.def.out : request) as z.ZodObject;
  const params = Object.keys(query.shape).length === 0 ? {} : { requestParams: { query } };
  if (body === undefined) return params;
  const media = body === 'report' ? ['application/xml', 'application/json'] : [];
  const content = Object.fromEntries([...media, 'application/octet-stream'].map((type) => [type, bytes]));
  return { ...params, requestBody: { required: body === 'report', content } };
}

const requestIdHeader = {
  'x-request-id': { schema: { type: 'string' as const }, description: 'The id of this request in the logs.' },
};

function errorResponses(codes: readonly ErrorCode[]): ZodOpenApiOperationObject['responses'] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errorRegistry[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\`: ${errorRegistry[code].meaning}`).join('\n\n'),
        headers: requestIdHeader,
        content: { 'application/json': { schema: ErrorBody } },
      },
    ]),
  );
}
