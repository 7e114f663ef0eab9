// `signalbox mcp`: the queue and its tests as tools for an agent, over standard input and output. The tools
// only read, unless `--allow-writes` is given.

import type { RepositoryName } from '#core/repository.ts';
import { withConnection } from '#cli/client/connection.ts';
import { withRepository } from '#cli/client/place.ts';
import { type AddCommand, withExamples } from '#cli/command.ts';

export const addMcp: AddCommand = ({ program, context, run }) => {
  const command = program
    .command('mcp')
    .description('run an MCP server on standard input and output, with tools for queues and tests')
    .option('--allow-writes', 'also offer tools that submit, cancel and restart');
  withExamples(
    withConnection(withRepository(command)),
    { line: 'signalbox mcp', does: 'offer the read-only tools' },
    {
      line: 'signalbox mcp --repo github.com/acme/widgets --allow-writes',
      does: 'also offer the tools that submit, cancel and restart, for one repository',
    },
  );
  run(command, async ({ options }) => {
    const { repo, allowWrites } = options as {
      readonly repo?: RepositoryName;
      readonly allowWrites?: boolean;
    };
    // Imported here: the MCP server would slow the start of every other command.
    const { serveAgent } = await import('./server.ts');
    return serveAgent({ context, options, repository: repo, mayWrite: allowWrites ?? false });
  });
};
