// Holds what the server says against GitHub's published OpenAPI descriptions: every JSON answer by its operation and
// status, every webhook by its event and action. Requests are held against them too: what GitHub would not understand
// is answered with 422, and a query that it would silently ignore is a failure of whoever sent it.
//
// Answers that a description leaves out (401, 403, 429 and the like of most operations) are held against GitHub's
// general form of an error.

import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Edition } from './model.ts';
import {
  type DescriptionKind,
  loadDescription,
  openSchemas,
  type Operation,
  type Schema,
  type Schemas,
} from './schema.ts';

/** Null: as it should be; otherwise the reason. */
export type Checked = string | null;

type Parameter = { readonly name: string; readonly in: string };
type Content = {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
};

const loaded = new Map<string, Schemas>();

/** Read and parsed once in a process, when first needed. */
function schemasOf(kind: DescriptionKind, edition: Edition): Schemas {
  const key = `${kind} ${edition}`;
  const known = loaded.get(key) ?? openSchemas(loadDescription(kind, edition));
  loaded.set(key, known);
  return known;
}

/** Reads what takes long before anybody waits for an answer. */
export function prepareDescriptions(edition: Edition): void {
  schemasOf('api', edition);
  schemasOf('webhooks', edition);
}

const compiled = new Map<string, ValidateFunction>();

function compileOnce(key: string, make: () => ValidateFunction): ValidateFunction {
  const known = compiled.get(key) ?? make();
  compiled.set(key, known);
  return known;
}

/**
 * GitHub describes the head's repository of a pull request as an object, and answers null where it was deleted
 * (github/rest-api-description, issue 1811). The 409 of "Create or update file contents" has one of two forms, and all that fits one
 * fits the other.
 */
function isMisdescribed({ instancePath, keyword, params }: ErrorObject, value: unknown): boolean {
  if (keyword === 'oneOf' && instancePath === '' && params['passingSchemas'] !== null) return true;
  if (keyword !== 'type' || !instancePath.endsWith('/head/repo')) return false;
  const steps = instancePath.split('/').slice(1);
  return steps.reduce((at: unknown, step) => (at as Readonly<Record<string, unknown>>)[step], value) === null;
}

function held(validate: ValidateFunction, value: unknown, what: string): Checked {
  if (validate(value)) return null;
  const errors = (validate.errors ?? []).filter((error) => !isMisdescribed(error, value));
  if (errors.length === 0) return null;
  const problems = errors
    .slice(0, 12)
    .map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    );
  return `${what} does not match GitHub's description:\n  ${problems.join('\n  ')}`;
}

/** Null: GitHub describes no such operation. */
export function findOperation(edition: Edition, route: string): Operation | null {
  const [method = '', path = ''] = route.split(' ');
  return schemasOf('api', edition).description.paths?.[path]?.[method.toLowerCase()] ?? null;
}

export function checkAnswer(edition: Edition, route: string, status: number, body: unknown): Checked {
  const { resolve, compile } = schemasOf('api', edition);
  const what = `${route} ${status}`;
  const operation = findOperation(edition, route);
  if (operation === null) return `${route} is not described for ${edition}`;
  const response = resolve(operation.responses[String(status)]) as Content | undefined;
  if (response === undefined && status < 400) return `${what} is not described`;
  const schema = response?.content?.['application/json']?.schema;
  if (schema === undefined && status < 400)
    return body === undefined ? null : `${what} has a body, which is not described`;
  if (body === undefined) return `${what} has no body`;
  const error = { $ref: `#/components/schemas/${status === 422 ? 'validation-error' : 'basic-error'}` };
  const mode = status < 400 ? 'closed' : 'open';
  return held(
    compileOnce(`${edition} ${what}`, () => compile(schema ?? error, mode)),
    body,
    what,
  );
}

/** In words for a 422. */
export function checkRequest(edition: Edition, route: string, body: unknown): Checked {
  const { compile } = schemasOf('api', edition);
  const schema = findOperation(edition, route)?.requestBody?.content?.['application/json']?.schema;
  if (schema === undefined) return null;
  return held(
    compileOnce(`${edition} ${route} request`, () => compile(schema, 'open')),
    body ?? {},
    route,
  );
}

export function checkQuery(edition: Edition, route: string, names: Iterable<string>): Checked {
  const { resolve } = schemasOf('api', edition);
  const parameters = (findOperation(edition, route)?.parameters ?? []).map(
    (parameter) => resolve(parameter) as Parameter,
  );
  const known = new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
  const odd = [...names].filter((name) => !known.has(name));
  return odd.length === 0 ? null : `${route} knows no query parameter ${odd.join(', ')}`;
}

export function checkWebhook(edition: Edition, event: string, action: string | null, body: unknown): Checked {
  const { description, compile } = schemasOf('webhooks', edition);
  const name = (action === null ? event : `${event}-${action}`).replaceAll('_', '-');
  const schema = description.webhooks?.[name]?.post.requestBody.content?.['application/json']?.schema;
  if (schema === undefined) return `The webhook ${name} is not described for ${edition}`;
  return held(
    compileOnce(`${edition} webhook ${name}`, () => compile(schema, 'closed')),
    body,
    `The webhook ${name}`,
  );
}
