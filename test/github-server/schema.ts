// JSON Schemas from GitHub's OpenAPI descriptions, for ajv. A description has thousands of schemas: only those that are
// asked for are turned, each when something first refers to it.
//
// Two things are turned: `nullable` of OpenAPI 3.0, which ajv knows only beside a type; and, in answers, fields that are not
// described, which are refused, so that nobody comes to depend on what GitHub does not say. The parts of an `allOf` are
// left open, because each describes only some of the fields.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Edition } from './model.ts';

export type Schema = Readonly<Record<string, unknown>>;

export type Description = {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, { readonly post: { readonly requestBody: Body } }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

type Body = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> };

export type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, unknown>>;
};

/**
 * - `closed`: fields that are not described are refused, at every depth.
 * - `part`: one of several schemas for one thing: the others describe the rest of its fields.
 * - `open`: as described, and whatever else there is.
 */
type Mode = 'closed' | 'part' | 'open';

export type Schemas = {
  readonly description: Description;
  /** What a `$ref` stands for, or the thing itself. */
  readonly resolve: (thing: unknown) => unknown;
  readonly compile: (schema: Schema, mode: Mode) => ValidateFunction;
};

const require = createRequire(import.meta.url);

export type DescriptionKind = 'api' | 'webhooks';

const files: Readonly<Record<DescriptionKind, Readonly<Record<Edition, () => string>>>> = {
  api: {
    'api.github.com': () => require.resolve('@octokit/openapi/generated/api.github.com.json'),
    'ghes-3.19': () => require.resolve('@octokit/openapi/generated/ghes-3.19.json'),
  },
  webhooks: {
    'api.github.com': () => require.resolve('@octokit/openapi-webhooks/generated/api.github.com.json'),
    'ghes-3.19': () => require.resolve('@octokit/openapi-webhooks/generated/ghes-3.19.json'),
  },
};

/** Of the packages only one file is read: their own entry points load every edition, which takes seconds. */
export const loadDescription = (kind: DescriptionKind, edition: Edition): Description =>
  JSON.parse(readFileSync(files[kind][edition](), 'utf8')) as Description;

export function openSchemas(description: Description): Schemas {
  const ajv = new Ajv2020({
    code: { optimize: false },
    strict: false,
    allErrors: true,
    logger: false,
    inlineRefs: false,
  });
  addFormats.default(ajv);
  // GitHub passes on whatever git has as an address, such as `root@localhost`.
  ajv.addFormat('email', true);

  const resolve = (thing: unknown): unknown => {
    const ref = (thing as { readonly $ref?: unknown } | undefined)?.$ref;
    if (typeof ref !== 'string') return thing;
    const [, kind = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)$/.exec(ref) ?? [];
    return resolve(description.components[kind]?.[name]);
  };

  const known = new Set<string>();
  /** The id under which ajv knows a component, which is turned now if it was not before. */
  const idOf = (ref: string, mode: Mode): string => {
    const id = `github:${ref.split('/').at(-1)!}.${mode}`;
    if (!known.has(id)) {
      known.add(id);
      ajv.addSchema({ $id: id, ...(turned(resolve({ $ref: ref }), mode) as object) });
    }
    return id;
  };

  const turned = (schema: unknown, mode: Mode): unknown => {
    if (typeof schema !== 'object' || schema === null) return schema;
    const { nullable, ...rest } = schema as Schema & { readonly $ref?: string };
    const isPart = combining.some((key) => key in rest) && 'properties' in rest;
    const own = isPart && mode === 'closed' ? 'part' : mode;
    const whole =
      rest.$ref === undefined
        ? Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, keyword(key, value, own)]))
        : { $ref: idOf(rest.$ref, mode) };
    if (own === 'closed' && 'properties' in rest) whole['additionalProperties'] ??= false;
    return nullable === true ? { anyOf: [{ type: 'null' }, whole] } : whole;
  };

  const keyword = (key: string, value: unknown, mode: Mode): unknown => {
    const inside = mode === 'open' ? 'open' : 'closed';
    switch (key) {
      case 'properties':
        return Object.fromEntries(
          Object.entries(value as Schema).map(([name, schema]) => [name, turned(schema, inside)]),
        );
      case 'items':
      case 'additionalProperties':
        return turned(value, inside);
      case 'allOf':
        return (value as readonly unknown[]).map((part) => turned(part, mode === 'open' ? 'open' : 'part'));
      case 'anyOf':
      case 'oneOf':
        return (value as readonly unknown[]).map((choice) => turned(choice, mode));
      default:
        return value;
    }
  };

  return {
    description,
    resolve,
    compile: (schema, mode) => ajv.compile(turned(schema, mode) as object),
  };
}

const combining = ['allOf', 'anyOf', 'oneOf'];
