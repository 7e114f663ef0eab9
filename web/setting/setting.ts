// Settings as a form uses them. The type and the description of a setting come from its schema, which is the
// one that the server validates with, so that neither is written twice.

import { z } from 'zod';
import { humanizeCode } from '../format.ts';

export type Values = Readonly<Record<string, unknown>>;

type FieldInput =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly isWhole: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  | { readonly kind: 'text'; readonly lengthMax: number }
  /** A list of texts; `isNullable`: or null, for no custom list. */
  | { readonly kind: 'lines'; readonly isNullable: boolean };

export type Field = {
  /** The dotted path of the setting in the request. */
  readonly path: string;
  readonly label: string;
  readonly description: string;
  readonly input: FieldInput;
  readonly schema: z.ZodType;
  /** The value that applies if none was chosen. */
  readonly initial: unknown;
  /** What null means, for a list that may be null. */
  readonly nullText: string;
};

type SettingJsonSchema = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: SettingJsonSchema;
  readonly anyOf?: readonly SettingJsonSchema[];
  readonly description?: string;
};

function deriveInputKind(json: SettingJsonSchema): FieldInput {
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

type FieldText = { readonly label: string; readonly nullText?: string };

export function createField(path: string, schema: z.ZodType, initial: unknown, fieldText: FieldText): Field {
  const json = z.toJSONSchema(schema, { io: 'input' }) as SettingJsonSchema;
  return {
    path,
    label: fieldText.label,
    description: json.description ?? '',
    input: deriveInputKind(json),
    schema,
    initial,
    nullText: fieldText.nullText ?? 'the default',
  };
}

/** The problem with a value, with the error message of the server's schema; null if the value is valid. */
export function findValueProblem({ schema, input }: Field, value: unknown): string | null {
  if (input.kind === 'number' && typeof value !== 'number') return 'Must be a number';
  const result = schema.safeParse(value);
  if (result.success) return null;
  const [issue] = result.error.issues;
  const [index] = issue?.path ?? [];
  return typeof index === 'number' ? `Line ${index + 1}: ${issue!.message}` : (issue?.message ?? 'Not valid');
}

/** A value as people read it. */
export function formatSettingValue({ input, nullText }: Field, value: unknown): string {
  if (value === null || value === undefined) return nullText;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  const formatOne = input.kind === 'choice' || input.kind === 'choices' ? humanizeCode : String;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatOne).join(', ');
  return formatOne(typeof value === 'string' ? value : JSON.stringify(value));
}

export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export type DraftSettingChange = { readonly field: Field; readonly before: unknown; readonly after: unknown };

/** The settings that a draft changes, in the order of the fields. */
export const listSettingChanges = (
  fields: readonly Field[],
  saved: Values,
  draft: Values,
): readonly DraftSettingChange[] =>
  fields.flatMap((field) => {
    const [before, after] = [saved[field.path], draft[field.path]];
    return field.path in draft && !isSame(before, after) ? [{ field, before, after }] : [];
  });
