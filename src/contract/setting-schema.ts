// Schemas of settings, from the tables that describe them (core/setting.ts).

import { z } from 'zod';
import type { Setting, SettingTable } from '#core/setting.ts';
import { lenientEnum, line } from './common.ts';

/** Git refuses a path that leaves the repository, and would refuse the whole list with it. */
const isInside = (glob: string): boolean => glob.split('/').every((part) => !['', '.', '..'].includes(part));

type Choices = readonly [string, ...string[]];

function schemaFor({ takes }: Setting): z.ZodType {
  switch (takes.kind) {
    case 'switch':
      return z.boolean();
    case 'number':
      return (takes.isWhole ? z.int() : z.number()).min(takes.min).max(takes.max);
    case 'choice':
      return lenientEnum(takes.choices as Choices);
    case 'choices':
      return z.array(lenientEnum(takes.choices as Choices)).max(takes.choices.length);
    case 'text':
      return line(1, takes.lengthMax);
    case 'texts': {
      const one = line(1, takes.lengthMax);
      const message = 'must be a path inside the repository, with / between its parts';
      const list = z.array(takes.arePaths ? one.refine(isInside, message) : one).max(takes.max);
      return takes.isNullable ? list.nullable() : list;
    }
  }
}

export type SettingSchemas<Table> = {
  readonly [Name in keyof Table]: z.ZodType<Table[Name] extends Setting<infer Value> ? Value : never>;
};

/** A schema for each setting of a table. */
export const settingSchemas = <Table extends SettingTable>(table: Table): SettingSchemas<Table> =>
  Object.fromEntries(
    Object.entries(table).map(([name, setting]) => [name, schemaFor(setting).describe(setting.description)]),
  ) as SettingSchemas<Table>;
