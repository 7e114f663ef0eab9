// Settings as a form knows them. What a setting takes and what it is for are read off its schema, which is the one that the
// server checks with, so that neither is written twice.

import { z } from 'zod';
import { wordsOf } from './format.ts';

export type Values = Readonly<Record<string, unknown>>;

type Takes =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly isWhole: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  | { readonly kind: 'text'; readonly lengthMax: number }
  /** A list of texts; `isNullable`: or none of one's own. */
  | { readonly kind: 'lines'; readonly isNullable: boolean };

export type Field = {
  /** Where it is in what the server takes, with dots. */
  readonly path: string;
  readonly label: string;
  /** What it does, in a sentence. */
  readonly description: string;
  readonly takes: Takes;
  readonly schema: z.ZodType;
  /** What holds where nothing was chosen. */
  readonly initial: unknown;
  /** What null means, for a list that may be null. */
  readonly nullWords: string;
};

type JsonSchema = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
};

function takesOf(json: JsonSchema): Takes {
  if (json.anyOf !== undefined) return { kind: 'lines', isNullable: true };
  if (json.enum !== undefined) return { kind: 'choice', choices: json.enum };
  switch (json.type) {
    case 'boolean':
      return { kind: 'switch' };
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        min: json.minimum ?? Number.NEGATIVE_INFINITY,
        max: json.maximum ?? Number.POSITIVE_INFINITY,
        isWhole: json.type === 'integer',
      };
    case 'array':
      return json.items?.enum === undefined
        ? { kind: 'lines', isNullable: false }
        : { kind: 'choices', choices: json.items.enum };
    default:
      return { kind: 'text', lengthMax: json.maxLength ?? Number.POSITIVE_INFINITY };
  }
}

type FieldWords = { readonly label: string; readonly nullWords?: string };

export function fieldOf(path: string, schema: z.ZodType, initial: unknown, words: FieldWords): Field {
  const json = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  return {
    path,
    label: words.label,
    description: json.description ?? '',
    takes: takesOf(json),
    schema,
    initial,
    nullWords: words.nullWords ?? 'none of its own',
  };
}

/** What is wrong with a value, in the words that the server would use; null: nothing. */
export function problemOf({ schema, takes }: Field, value: unknown): string | null {
  if (takes.kind === 'number' && typeof value !== 'number') return 'Must be a number';
  const result = schema.safeParse(value);
  if (result.success) return null;
  const [issue] = result.error.issues;
  const [index] = issue?.path ?? [];
  return typeof index === 'number' ? `Line ${index + 1}: ${issue!.message}` : (issue?.message ?? 'Not valid');
}

/** A value as people read it. */
export function sayValue({ takes, nullWords }: Field, value: unknown): string {
  if (value === null || value === undefined) return nullWords;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  const say = takes.kind === 'choice' || takes.kind === 'choices' ? wordsOf : String;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(say).join(', ');
  return say(typeof value === 'string' ? value : JSON.stringify(value));
}

export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export type Change = { readonly field: Field; readonly before: unknown; readonly after: unknown };

/** What a draft changes of what is saved, in the order of the fields. */
export const changesOf = (fields: readonly Field[], saved: Values, draft: Values): readonly Change[] =>
  fields.flatMap((field) => {
    const [before, after] = [saved[field.path], draft[field.path]];
    return field.path in draft && !isSame(before, after) ? [{ field, before, after }] : [];
  });

/** `{ 'a.b': 1 }` → `{ a: { b: 1 } }`. */
export function nested(values: Values): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const parts = path.split('.');
    let inner = whole;
    for (const part of parts.slice(0, -1)) inner = (inner[part] ??= {}) as Record<string, unknown>;
    inner[parts.at(-1)!] = value;
  }
  return whole;
}

/** The value at a path with dots. */
export const valueAt = (whole: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, part) => (inner as Values | undefined)?.[part], whole);
