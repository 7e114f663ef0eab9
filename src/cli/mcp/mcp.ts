// `signalbox mcp`: the queue and its tests as tools for an agent, over standard input and output. It reads only, unless
// it is told otherwise.

import type { RepositoryName } from '#core/repository.ts';
import { withConnection } from '../client/connection.ts';
import { withRepository } from '../client/place.ts';
import { type AddCommand, withExamples } from '../command.ts';

export const addMcp: AddCommand = ({ program, context, run }) => {
  const command = program
    .command('mcp')
    .description('serve the queue and its tests to an agent (Model Context Protocol, on stdin and stdout)')
    .option('--allow-writes', 'also offer tools that submit, cancel and restart');
  withExamples(
    withConnection(withRepository(command)),
    { line: 'signalbox mcp', does: 'offers the tools that read' },
    {
      line: 'signalbox mcp --repo github.com/acme/widgets --allow-writes',
      does: 'also offers those that submit, cancel and restart, for one repository',
    },
  );
  run(command, async ({ options }) => {
    const { repo, allowWrites } = options as {
      readonly repo?: RepositoryName;
      readonly allowWrites?: boolean;
    };
    // Only here: what an agent needs would slow the start of every other command.
    const { serveAgent } = await import('./server.ts');
    return serveAgent({ context, options, repository: repo, mayWrite: allowWrites ?? false });
  });
};
