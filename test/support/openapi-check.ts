// Holds every response of every test against the OpenAPI document, with fields the document does not name refused.
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '#contract/endpoint/openapi.ts';

type Operation = { responses: Record<string, { content?: Record<string, { schema: object }> }> };
type Document = { paths: Record<string, Record<string, Operation>>; components: object };

const document = openApiDocument({
  publicUrl: 'http://localhost:8080',
  version: 'test',
  strict: true,
}) as unknown as Document;

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', components: document.components });

const validators = new Map<string, ValidateFunction>();

/** Throws when the document does not allow this answer. Answers of paths outside the document are passed over. */
export function checkResponse(
  method: string,
  path: string,
  status: number,
  type: string,
  body: unknown,
): void {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) return;
  const response = operation.responses[String(status)];
  if (response === undefined)
    throw new Error(`${method} ${path} answered ${status}, which is not documented`);
  const content = Object.entries(response.content ?? {}).find(([media]) =>
    type.startsWith(media.split(';')[0]!),
  );
  if (content === undefined) throw new Error(`${method} ${path} ${status} answered with ${type}`);
  if (!type.startsWith('application/json')) return;
  const key = `${method} ${path} ${status}`;
  let validate = validators.get(key);
  if (validate === undefined) {
    const text = JSON.stringify(content[1].schema).replaceAll('"#/components/', '"openapi#/components/');
    validate = ajv.compile(JSON.parse(text) as object);
    validators.set(key, validate);
  }
  if (!validate(body))
    throw new Error(
      `${key} does not match the document: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`,
    );
}
