// The server behind `signalbox mcp`: it offers its tools until standard input ends.

import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { fullName, type RepositoryName, repositoryKey } from '#core/repository.ts';
import { clientSettingsOf } from '#config/client.ts';
import { openApi } from '../client/connection.ts';
import { findQueue, findRepository, parseRepository } from '../client/place.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { queueTools } from './queue-tools.ts';
import { simulateTools } from './simulate-tool.ts';
import { testTools } from './test-tools.ts';
import type { ToolContext } from './tool.ts';
import { writeTools } from './write-tools.ts';

type AgentOptions = {
  readonly context: CliContext;
  /** Of the command: which service, which token, and the repository where none is named. */
  readonly options: Given['options'];
  readonly repository: RepositoryName | undefined;
  readonly mayWrite: boolean;
};

/** Of one message; ours have a few lines. */
const messageBytesMax = 1024 * 1024;

export async function serveAgent(options: AgentOptions): Promise<number> {
  const server = new McpServer(
    { name: 'signalbox', title: 'Signalbox', version: options.context.version },
    { instructions: instructionsOf(options.mayWrite), maxToolInputElements: 100 },
  );
  const context = contextOf(options);
  const tools = [...queueTools, ...testTools, ...simulateTools, ...(options.mayWrite ? writeTools : [])];
  for (const tool of tools) tool.addTo(server, context);
  const transport = new StdioServerTransport(process.stdin, process.stdout, {
    maxBufferSize: messageBytesMax,
  });
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')]);
  await server.connect(transport);
  await ended;
  // Calls under way may still answer; then nothing is left, and the process ends.
  return 0;
}

const instructionsOf = (mayWrite: boolean): string =>
  [
    'Signalbox is a merge queue: pull requests are submitted to the queue of a branch, tested on top of what is ahead of them, and merged if that passes.',
    'It also keeps the health of every test: flaky, broken or healthy.',
    'Begin with explain_pull_request when somebody asks why a pull request waits or failed.',
    mayWrite
      ? 'Submitting, cancelling and restarting affect other people: do so only when the user asked for it.'
      : 'These tools only read. To submit, cancel or restart, the user starts `signalbox mcp --allow-writes`.',
  ].join(' ');

const isSame = (a: RepositoryName, b: RepositoryName): boolean => {
  const [one, other] = [repositoryKey(a), repositoryKey(b)];
  return one.host === other.host && one.owner === other.owner && one.name === other.name;
};

/** What is missing is told at the first call, where an agent passes it on, and not at the start, where nobody reads it. */
function contextOf({ context, options, repository, mayWrite }: AgentOptions): ToolContext {
  const api = () => openApi(context, options);
  const wished = (repo: string | undefined) => {
    const named = repo === undefined ? repository : parseRepository(repo);
    // With --repo and --allow-writes the tools are for that repository alone: an agent may read instructions of strangers.
    if (mayWrite && repository !== undefined && named !== undefined && !isSame(named, repository))
      throw new CliError(
        `These tools are for ${repository.host}/${fullName(repository)} only. Start \`signalbox mcp\` without --repo for others.`,
        'usage',
      );
    return named === undefined ? {} : { repo: named };
  };
  const call: ToolContext['call'] = async (name, request) => (await api()).call(name, request);
  return {
    api,
    call,
    queue: async ({ repo, branch }, number) => {
      const wishes = { ...wished(repo), ...(branch === undefined ? {} : { branch }) };
      return findQueue(context, await api(), wishes, number ?? null);
    },
    tests: async ({ repo }) => ({
      repo: await findRepository(context, wished(repo)),
      org_url_slug:
        clientSettingsOf(context.env).organization ?? (await call('getOrganization', {})).organization.slug,
    }),
  };
}
