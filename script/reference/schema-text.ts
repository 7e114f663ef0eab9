// A JSON Schema in the words of a reference page.

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
};

/** Above this a bound only says that a number is a number. */
const boundMax = 2 ** 53 - 1;

function between(min: number | undefined, max: number | undefined): string {
  const least = min === undefined || min <= -boundMax ? '' : String(min);
  const most = max === undefined || max >= boundMax ? '' : String(max);
  return least === '' && most === '' ? '' : ` ${least}..${most}`;
}

const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

export function typeText(schema: Schema): string {
  const choices = schema.oneOf ?? schema.anyOf;
  if (schema.$ref !== undefined) return linkTo(schema.$ref);
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' or ');
  if (schema.allOf !== undefined) return schema.allOf.map(typeText).join(' and ');
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? 'anything' : types.map((type) => plainTypeText(type, schema)).join(' or ');
}

function plainTypeText(type: string, schema: Schema): string {
  switch (type) {
    case 'string':
      return schema.format === 'date-time' ? 'time' : `text${between(schema.minLength, schema.maxLength)}`;
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'integer' : 'number'}${between(schema.minimum, schema.maximum)}`;
    case 'array':
      return `list${between(schema.minItems, schema.maxItems)} of ${itemsText(schema)}`;
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? `object of ${typeText(schema.additionalProperties)}`
        : 'object';
    default:
      return type;
  }
}

function itemsText({ items, prefixItems }: Schema): string {
  if (prefixItems !== undefined) return prefixItems.map(typeText).join(', ');
  return items === undefined ? 'anything' : typeText(items);
}

const nameOf = (ref: string): string => ref.split('/').at(-1)!;

const linkTo = (ref: string): string => `[${nameOf(ref)}](#${nameOf(ref).toLowerCase()})`;

export type FieldRow = {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
};

/** The fields of an object, those of unnamed objects inside it with a dotted name. */
export function fieldRows(schema: Schema, prefix = ''): readonly FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = `${prefix}${key}`;
    const inner = field.type === 'array' ? field.items : field;
    const row: FieldRow = {
      name,
      type: typeText(field),
      isRequired: schema.required?.includes(key) ?? false,
      description: field.description ?? '',
    };
    const path = `${name}${field.type === 'array' ? '[]' : ''}.`;
    return inner?.properties === undefined ? [row] : [row, ...fieldRows(inner, path)];
  });
}
