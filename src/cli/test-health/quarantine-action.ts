// What the commands of `signalbox quarantine` do.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { countText } from '#base/number-text.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { quarantineListMax } from '#core/health/quarantine/quarantine-list.ts';
import { repositoryText } from '../client/place.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { formatQuarantineFile, parseQuarantineFile } from './quarantine-file.ts';
import { openTests } from './tests-action.ts';

export async function exportQuarantine(context: CliContext, given: Given): Promise<number> {
  const { api, scope, isJson } = await openTests(context, given);
  const answer = await api.call('exportQuarantine', scope);
  if (isJson) {
    printJson(answer);
    return 0;
  }
  if (answer.is_cut)
    throw new CliError(
      `The repository has more than ${quarantineListMax} quarantines, which is too many for a file. Fix or release some.`,
    );
  const text = formatQuarantineFile(answer.tests, repositoryText(scope.repo));
  const file = given.args[0] as string;
  if (file === '-') process.stdout.write(text);
  else {
    const path = resolve(context.cwd, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    printLines([`Wrote ${countText(answer.tests.length, 'test')} to ${file}.`]);
  }
  return 0;
}

export async function importQuarantine(context: CliContext, given: Given): Promise<number> {
  const file = given.args[0] as string;
  const isDryRun = given.options['dryRun'] === true;
  const tests = await parseQuarantineFile(await readText(resolve(context.cwd, file), file), file);
  const { api, scope, isJson } = await openTests(context, given);
  const answer = await api.call('importQuarantine', { ...scope, tests, dry_run: isDryRun });
  if (isJson) printJson(answer);
  else printLines(importLines(answer, isDryRun));
  return 0;
}

async function readText(path: string, file: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new CliError(`${file} cannot be read. Write it with: signalbox quarantine export`);
  }
}

type ImportAnswer = ResponseOf<'importQuarantine'>;
type ImportedChange = ImportAnswer['changes'][number];

const settingTexts = {
  ALWAYS_QUARANTINE: 'always',
  NEVER_QUARANTINE: 'never',
  AUTO_QUARANTINE: 'automatic',
} as const;

function changeLines({ name, test_case_id: id, before, after }: ImportedChange): readonly string[] {
  const rows = [
    ['quarantine', settingTexts[before.quarantine_setting], settingTexts[after.quarantine_setting]],
    ['until', before.expires_at, after.expires_at],
    ['owner', before.owner, after.owner],
    ['ticket', before.ticket_id, after.ticket_id],
    ['note', before.note, after.note],
  ] as const;
  const changed = rows.filter(([, one, other]) => one !== other);
  return [
    plainLine(`${name} (${id})`, 300),
    ...changed.map(([label, one, other]) =>
      plainLine(
        `  ${label}: ${one ?? 'none'} → ${other ?? (label === 'until' ? 'by the settings' : 'none')}`,
        300,
      ),
    ),
  ];
}

function importLines(answer: ImportAnswer, isDryRun: boolean): readonly string[] {
  const { changes, unknown_test_ids: unknown, ended_test_ids: ended } = answer;
  const count = countText(changes.length, 'test');
  const done = isDryRun ? `The file would change ${count}.` : `Changed ${count}.`;
  return [
    ...changes.flatMap(changeLines),
    changes.length === 0 ? 'The file changes nothing.' : done,
    ...(unknown.length === 0
      ? []
      : [
          `Ignored ${countText(unknown.length, 'test')} that the repository does not have: ${unknown[0]}${unknown.length > 1 ? ' …' : ''}`,
        ]),
    ...(ended.length === 0
      ? []
      : [
          `The end of ${countText(ended.length, 'test')} is in the past: ${ended[0]}${ended.length > 1 ? ' …' : ''}`,
        ]),
  ];
}
