// `.signalbox/quarantine.yaml`: every quarantine of a repository, for review.
//
//   version: 1
//   tests:
//     - id: 0d3b7b1e-6d3c-5c0f-9a4e-3a4f1f1d2c3b
//       name: waits for the reply       (what has this mark is for readers, and is not imported) *
//       file: test/mail.test.ts         *
//       code_owners: ['@acme/mail']     *
//       quarantine: always              always, never or automatic
//       until: 2026-12-24T00:00:00.000Z
//       owner: ada
//       ticket: MAIL-7
//       note: waits for a fix of the server

import { stringify } from 'yaml';
import { z } from 'zod';
import { parseYamlApart } from '#config/yaml-apart.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { quarantineListMax } from '#core/health/quarantine/quarantine-list.ts';
import { CliError } from '../exit-codes.ts';

export const quarantineFileName = '.signalbox/quarantine.yaml';

/** Most characters of a file: those of a full list with long names and notes. */
const lengthMax = 1_048_576;

const settings = {
  always: 'ALWAYS_QUARANTINE',
  never: 'NEVER_QUARANTINE',
  automatic: 'AUTO_QUARANTINE',
} as const;
type Choice = keyof typeof settings;

const text = (max: number) => z.string().min(1).max(max);

const FileEntry = z.strictObject({
  id: z.uuid(),
  name: text(4_096).optional(),
  file: text(4_096).optional(),
  variant: text(64).optional(),
  code_owners: z.array(text(255)).max(100).optional(),
  quarantine: z.enum(Object.keys(settings) as [Choice, ...Choice[]]),
  until: z.iso.datetime({ offset: true }).optional(),
  owner: text(255).optional(),
  ticket: text(255).optional(),
  note: text(2_000).optional(),
});

const QuarantineFile = z.strictObject({
  version: z.literal(1),
  tests: z.array(FileEntry).max(quarantineListMax).nullable(),
});

type ListedTest = ResponseOf<'exportQuarantine'>['tests'][number];
/** As the request has it. */
type ImportedTest = {
  readonly test_case_id: string;
  readonly quarantine_setting: (typeof settings)[Choice];
  readonly expires_at?: string;
  readonly owner?: string;
  readonly ticket_id?: string;
  readonly note?: string;
};

const choiceFor = ({ quarantine_setting: setting }: ListedTest): Choice =>
  setting === 'ALWAYS_QUARANTINE' ? 'always' : setting === 'NEVER_QUARANTINE' ? 'never' : 'automatic';

export function formatQuarantineFile(tests: readonly ListedTest[], repository: string): string {
  const head = [
    `# The quarantine of ${repository}, written by: signalbox quarantine export`,
    '# Change quarantine, until, owner, ticket and note in a pull request; then apply it with: signalbox quarantine import',
    '# A test that is removed from this list is quarantined automatically or not at all.',
  ];
  const entries = tests.map((test) => ({
    id: test.test_case_id,
    name: test.name,
    ...(test.file !== null && { file: test.file }),
    ...(test.variant !== '' && { variant: test.variant }),
    ...(test.codeowners.length > 0 && { code_owners: test.codeowners }),
    quarantine: choiceFor(test),
    ...(test.expires_at !== null && { until: test.expires_at }),
    ...(test.owner !== null && { owner: test.owner }),
    ...(test.ticket_id !== null && { ticket: test.ticket_id }),
    ...(test.note !== null && { note: test.note }),
  }));
  return `${head.join('\n')}\n${stringify({ version: 1, tests: entries }, { lineWidth: 0 })}`;
}

export async function parseQuarantineFile(content: string, path: string): Promise<ImportedTest[]> {
  const yaml = await parseYamlApart(content, lengthMax);
  if (yaml.kind === 'no-yaml')
    throw new CliError(
      `${path} is not valid YAML, or is too large. Write it with: signalbox quarantine export`,
    );
  const parsed = QuarantineFile.safeParse(yaml.content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue!.path.length === 0 ? '' : ` at ${issue!.path.join('.')}`;
    throw new CliError(`${path} is not valid${where}: ${issue!.message}. Correct it, then import it again.`);
  }
  return (parsed.data.tests ?? []).map(({ id, quarantine, until, owner, ticket, note }) => ({
    test_case_id: id,
    quarantine_setting: settings[quarantine],
    ...(until !== undefined && { expires_at: until }),
    ...(owner !== undefined && { owner }),
    ...(ticket !== undefined && { ticket_id: ticket }),
    ...(note !== undefined && { note }),
  }));
}
