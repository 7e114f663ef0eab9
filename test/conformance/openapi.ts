/**
 * The published contract as a check. `/openapi.json` names for each operation the statuses it may answer with
 * and the schema of each body; an answer outside of that is a defect of the server or of its document.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import { pick } from './json.ts';

export type ContractDocument = {
  readonly document: unknown;
  /** Whether the document lists this method of this path. */
  hasOperation(method: string, path: string): boolean;
  /** What is wrong with this answer by the document; undefined when nothing is. */
  check(method: string, path: string, status: number, contentType: string, body: unknown): string | undefined;
};

export function createContractDocument(document: unknown): ContractDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, logger: false });
  // ajv-formats is CommonJS: its function is the default of the default under Node's interop.
  const addFormats = formats.default as unknown as { default?: (a: Ajv2020) => void } & ((
    a: Ajv2020,
  ) => void);
  (addFormats.default ?? addFormats)(ajv);
  const compiled = new Map<string, ValidateFunction>();

  function resolve(value: unknown): unknown {
    const ref = pick(value, '$ref');
    if (typeof ref !== 'string') return value;
    const keys = ref
      .replace(/^#\//, '')
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
    return resolve(pick(document, ...keys));
  }

  function findOperation(method: string, path: string): unknown {
    return pick(resolve(pick(document, 'paths', path)), method.toLowerCase());
  }

  function compile(key: string, schema: unknown): ValidateFunction {
    const known = compiled.get(key);
    if (known) return known;
    // The components ride along, so that `#/components/schemas/…` resolves inside the compiled schema.
    const whole = { ...(schema as object), components: pick(document, 'components') };
    const validate = ajv.compile(whole);
    compiled.set(key, validate);
    return validate;
  }

  function check(
    method: string,
    path: string,
    status: number,
    contentType: string,
    body: unknown,
  ): string | undefined {
    const operation = findOperation(method, path);
    if (operation === undefined) return 'the operation is not documented';
    const response = resolve(pick(operation, 'responses', String(status)));
    if (response === undefined) return `status ${status} is not documented`;
    const essence = (contentType.split(';')[0] ?? '').trim().toLowerCase();
    const content = pick(response, 'content');
    const media =
      pick(content, essence) ??
      Object.entries(content ?? {}).find(([type]) => type.split(';')[0] === essence)?.[1];
    if (media === undefined)
      return `content type ${JSON.stringify(contentType)} is not documented for ${status}`;
    if (essence !== 'application/json') return undefined;
    const schema = pick(media, 'schema');
    if (schema === undefined) return `no schema is documented for ${status}`;
    let validate: ValidateFunction;
    try {
      validate = compile(`${method} ${path} ${status}`, schema);
    } catch (error) {
      return `the documented schema cannot be read: ${String(error)}`;
    }
    return validate(body) ? undefined : `the body breaks the schema: ${ajv.errorsText(validate.errors)}`;
  }

  return { document, hasOperation: (method, path) => findOperation(method, path) !== undefined, check };
}
