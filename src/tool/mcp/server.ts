// The server behind `signalbox mcp`: it offers its tools until standard input ends.

import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { fullName, type RepositoryName, repositoryKey } from '#core/repository.ts';
import { readClientSettings } from '#config/client.ts';
import { openApi } from '#cli/client/connection.ts';
import { findQueue, findRepository, parseRepository } from '#cli/client/place.ts';
import type { CliContext, Given } from '#cli/command.ts';
import { CliError } from '#cli/exit-codes.ts';
import { queueTools } from './queue-tools.ts';
import { simulateTools } from './simulate-tool.ts';
import { testTools } from './test-tools.ts';
import type { ToolContext } from './tool.ts';
import { writeTools } from './write-tools.ts';

type AgentOptions = {
  readonly context: CliContext;
  /** The options of the command: the service, the token, and the default repository. */
  readonly options: Given['options'];
  readonly repository: RepositoryName | undefined;
  readonly mayWrite: boolean;
};

/** Limit of one message; real ones have a few lines. */
const messageBytesMax = 1024 * 1024;

export async function serveAgent(options: AgentOptions): Promise<number> {
  const server = new McpServer(
    { name: 'signalbox', title: 'Signalbox', version: options.context.version },
    { instructions: buildInstructions(options.mayWrite), maxToolInputElements: 100 },
  );
  const context = createToolContext(options);
  const tools = [...queueTools, ...testTools, ...simulateTools, ...(options.mayWrite ? writeTools : [])];
  for (const tool of tools) tool.addTo(server, context);
  const transport = new StdioServerTransport(process.stdin, process.stdout, {
    maxBufferSize: messageBytesMax,
  });
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')]);
  await server.connect(transport);
  await ended;
  // Calls in progress may still answer; then nothing is left to do, and the process exits.
  return 0;
}

const buildInstructions = (mayWrite: boolean): string =>
  [
    'Signalbox is a merge queue: pull requests are submitted to the queue of a branch, tested together with the pull requests ahead of them, and merged if the tests pass.',
    'It also records the status of every test: flaky, broken or healthy.',
    'Start with explain_pull_request when the user asks why a pull request waits or failed.',
    mayWrite
      ? 'Submitting, cancelling and restarting affect other people: do it only if the user asks for it.'
      : 'These tools are read-only. To submit, cancel or restart, the user must start `signalbox mcp --allow-writes`.',
  ].join(' ');

const isSame = (a: RepositoryName, b: RepositoryName): boolean => {
  const [one, other] = [repositoryKey(a), repositoryKey(b)];
  return one.host === other.host && one.owner === other.owner && one.name === other.name;
};

/** Reports a missing option at the first call, which an agent passes on: output at the start is not read. */
function createToolContext({ context, options, repository, mayWrite }: AgentOptions): ToolContext {
  const api = () => openApi(context, options);
  const wished = (repo: string | undefined) => {
    const named = repo === undefined ? repository : parseRepository(repo);
    // With --repo and --allow-writes all tools are limited to it: an agent may read untrusted instructions.
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
      const queueOptions = { ...wished(repo), ...(branch === undefined ? {} : { branch }) };
      return findQueue(context, await api(), queueOptions, number ?? null);
    },
    tests: async ({ repo }) => ({
      repo: await findRepository(context, wished(repo)),
      org_url_slug:
        readClientSettings(context.env).organization ?? (await call('getOrganization', {})).organization.slug,
    }),
  };
}
