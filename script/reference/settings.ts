// docs/reference/settings.md: what can be set on a queue and for test health, from the schemas that check it.
import { z } from 'zod';
import { healthSettingDefaults } from '#contract/health/health-settings.ts';
import { HealthSettingsChange } from '#contract/health/quarantine.ts';
import { queueSettingDefaults, queueSettings } from '#contract/queue-settings.ts';
import { fieldRows, type Schema } from './schema-text.ts';
import { table } from './table.ts';

type Defined = Schema & { readonly $defs?: Readonly<Record<string, Schema>> };

/** With every named part in its place. */
function schemaOf(type: z.ZodType): Schema {
  const schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Defined;
  const inlined = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inlined);
    if (part === null || typeof part !== 'object') return part;
    const { $ref } = part as Schema;
    if ($ref !== undefined) return inlined(schema.$defs?.[$ref.split('/').at(-1)!]);
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, inlined(inner)]));
  };
  const { $defs: _, ...own } = schema;
  return inlined(own) as Schema;
}

/** The value at a dotted name. */
function valueAt(value: unknown, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

function settingsTable(schema: Schema, defaults: unknown): string {
  const rows = fieldRows(schema)
    .map((row) => ({ ...row, initial: valueAt(defaults, row.name) }))
    // An object is the heading of what it holds.
    .filter(({ initial }) => initial === null || typeof initial !== 'object' || Array.isArray(initial))
    .map(({ name, type, initial, description: says }) => [
      `\`${name}\``,
      type,
      initial === undefined ? '' : `\`${typeof initial === 'string' ? initial : JSON.stringify(initial)}\``,
      says,
    ]);
  return table(['setting', 'values', 'default', 'what it does'], rows);
}

export const settingsPage = (): string => `# Settings

## Of a queue

Set with \`createQueue\` and \`updateQueue\` ([API reference](api.md#queues)), with \`signalbox queue set\`, or on the queue's
page under Settings. What is not named stays as it is. \`deleteRequiredStatuses: true\` sets \`requiredStatuses\` back to null.
[Tuning](../how-to/tuning.md) has a section for each, and [how the queue decides](../explanation/how-the-queue-decides.md) explains
what they mean together.

${settingsTable(schemaOf(z.object(queueSettings)), queueSettingDefaults)}

## Of test health

Per repository, set with \`updateHealthSettings\` ([API reference](api.md#test-health)) or on the page Tests under Settings.
[How tests are classified](../explanation/how-tests-are-classified.md) explains the monitors.

${settingsTable(schemaOf(HealthSettingsChange), healthSettingDefaults)}
`;
