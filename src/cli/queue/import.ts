// `signalbox import`: reads the configuration of another merge queue and prints the settings that it maps to, and all that
// it does not. It changes nothing.

import { Option } from 'commander';
import type { RepositoryName } from '#core/repository.ts';
import { withJson } from '../client/connection.ts';
import { withRepository } from '../client/place.ts';
import { type AddCommand, withExamples } from '../command.ts';

const queues = ['bors', 'mergify', 'github'] as const;
export type OtherQueue = (typeof queues)[number];

export const addImport: AddCommand = ({ program, context, run }) => {
  const command = withJson(
    withRepository(
      program
        .command('import')
        .description('print the settings that bors.toml, .mergify.yml or a ruleset of GitHub map to')
        .argument('<file>', 'the configuration of the other queue; - for standard input')
        .addOption(new Option('--from <queue>', 'whose it is; else told by its name').choices(queues))
        .option('--branch <name>', 'the branch of the queue, where the file does not say', 'main'),
    ),
  );
  withExamples(
    command,
    {
      line: 'signalbox import bors.toml',
      does: 'what becomes of bors.toml, and what does not',
    },
    {
      line: 'signalbox import .mergify.yml --repo github.com/acme/widgets --json',
      does: 'the same of .mergify.yml, for a program',
    },
    {
      line: 'signalbox import ruleset.json --from github',
      does: 'of the merge queue of GitHub, as its API answers for a ruleset',
    },
  );
  run(command, async ({ args: [file], options }) => {
    const { from, branch, repo, json } = options as {
      readonly from?: OtherQueue;
      readonly branch: string;
      readonly repo?: RepositoryName;
      readonly json?: boolean;
    };
    // Only here: the parsers would slow the start of every other command.
    const { readOtherQueue } = await import('./import-file.ts');
    const { showImported } = await import('./import-view.ts');
    const read = await readOtherQueue(context.cwd, file as string, from ?? null);
    showImported(read, { branch, repo: repo ?? null, isJson: json ?? false });
    return 0;
  });
};
