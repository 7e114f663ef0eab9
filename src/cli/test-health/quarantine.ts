// `signalbox quarantine`: the quarantine of a repository as a file that is reviewed.

import type { Command } from 'commander';
import { withConnection, withJson } from '../client/connection.ts';
import { withRepository } from '../client/place.ts';
import { type AddCommand, withExamples } from '../command.ts';
import { quarantineFileName } from './quarantine-file.ts';

const repo = '--repo sandbox.example/acme/widgets';

export const addQuarantine: AddCommand = ({ program, context, run }) => {
  const quarantine = program
    .command('quarantine')
    .description('keep the quarantine of a repository in a file that is reviewed');
  const add = (name: string, summary: string): Command =>
    withJson(withConnection(withRepository(quarantine.command(name).description(summary))));

  const exporting = add('export', 'write every quarantine to a file').argument(
    '[file]',
    'file to write; - for standard output',
    quarantineFileName,
  );
  withExamples(
    exporting,
    { line: `signalbox quarantine export ${repo}`, does: `write ${quarantineFileName}` },
    { line: `signalbox quarantine export - ${repo}`, does: 'print the file' },
  );
  run(exporting, async (given) => (await import('./quarantine-action.ts')).exportQuarantine(context, given));

  const importing = add('import', 'apply the file to the repository, all at once or not at all')
    .argument('[file]', 'file to read', quarantineFileName)
    .option('--dry-run', 'list the changes, and make none');
  withExamples(
    importing,
    { line: `signalbox quarantine import --dry-run ${repo}`, does: 'show what the file would change' },
    { line: `signalbox quarantine import ${repo}`, does: 'apply the file' },
  );
  run(importing, async (given) => (await import('./quarantine-action.ts')).importQuarantine(context, given));
};
