// `signalbox import`: reads the configuration of another merge queue and prints the settings that it maps to,
// and everything that has no mapping. It changes nothing.

import { Option } from 'commander';
import type { RepositoryName } from '#core/repository.ts';
import { withJson } from '#cli/client/connection.ts';
import { withRepository } from '#cli/client/place.ts';
import { type AddCommand, withExamples } from '#cli/command.ts';

const queues = ['bors', 'mergify', 'github'] as const;
export type OtherQueue = (typeof queues)[number];

export const addImport: AddCommand = ({ program, context, run }) => {
  const command = withJson(
    withRepository(
      program
        .command('import')
        .description('convert bors.toml, .mergify.yml or a GitHub ruleset to queue settings')
        .argument('<file>', 'configuration file of the other merge queue, - for standard input')
        .addOption(
          new Option(
            '--from <queue>',
            'merge queue that the file is for (default: detected by the file name)',
          ).choices(queues),
        )
        .option('--branch <name>', 'target branch, if the file does not name one', 'main'),
    ),
  );
  withExamples(
    command,
    {
      line: 'signalbox import bors.toml',
      does: 'print the settings for bors.toml, and what has no equivalent',
    },
    {
      line: 'signalbox import .mergify.yml --repo github.com/acme/widgets --json',
      does: 'print the settings for .mergify.yml as JSON',
    },
    {
      line: 'signalbox import ruleset.json --from github',
      does: 'print the settings for a ruleset that the API of GitHub returned',
    },
  );
  run(command, async ({ args: [file], options }) => {
    const { from, branch, repo, json } = options as {
      readonly from?: OtherQueue;
      readonly branch: string;
      readonly repo?: RepositoryName;
      readonly json?: boolean;
    };
    // Imported here: the parsers would slow the start of every other command.
    const { readOtherQueue } = await import('./import-file.ts');
    const { showImported } = await import('./import-view.ts');
    const read = await readOtherQueue(context.cwd, file as string, from ?? null);
    showImported(read, { branch, repo: repo ?? null, isJson: json ?? false });
    return 0;
  });
};
