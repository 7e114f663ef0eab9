// The command line: every command, and how it ends (exit-codes.ts has the codes).

import { Command, CommanderError } from 'commander';
import { addAdmin } from './admin/admin-command.ts';
import { addService } from './admin/service.ts';
import { addWebhook } from './admin/webhook.ts';
import { addCi } from './ci/ci.ts';
import { addLogin } from './client/login.ts';
import { ServiceError } from './client/transport.ts';
import type { AddCommand, Cli, CliContext } from './command.ts';
import { addCompletion } from './completion.ts';
import { addDemo } from './demo.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { addMcp } from './mcp/mcp.ts';
import { addPullRequest } from './pull-request/pull-request.ts';
import { addStatus } from './pull-request/status.ts';
import { addTargets } from './pull-request/targets.ts';
import { addImport } from './queue/import.ts';
import { addQueue } from './queue/queue.ts';
import { addSimulate } from './queue/simulate.ts';
import { penFor } from './terminal/output.ts';
import { plainLine } from './terminal/plain-text.ts';
import { addTests } from './test-health/tests.ts';

/** In the order of the help. */
const groups: Readonly<Record<string, readonly AddCommand[]>> = {
  'To look at:': [addDemo],
  'Pull requests and queues:': [addPullRequest, addStatus, addQueue, addTargets, addSimulate],
  'From another queue:': [addImport],
  'Tests:': [addCi, addTests],
  'This machine:': [addLogin, addMcp, addCompletion],
  'The service:': [addService, addAdmin, addWebhook],
};

type Outcome = { code: number | undefined };

export function createProgram(context: CliContext, outcome: Outcome): Command {
  const program = new Command('signalbox')
    .description('A merge queue and test-health service that you run yourself.')
    .version(context.version, '-V, --version', 'show the version')
    .showHelpAfterError('(add --help to see how it is used)')
    .enablePositionalOptions();
  const cli: Cli = {
    program,
    context,
    run: (command, act) => {
      command.action(async () => {
        outcome.code = await act({ args: command.processedArgs, options: command.optsWithGlobals() });
      });
    },
  };
  for (const [title, adds] of Object.entries(groups)) {
    program.commandsGroup(title);
    for (const add of adds) add(cli);
  }
  program.helpCommand('help [command]', 'show the help of a command');
  for (const command of everyCommand(program))
    command.exitOverride().helpOption('-h, --help', 'show this help');
  return program;
}

export function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** The exit code; undefined: something goes on, and the process ends by itself. */
export async function runProgram(context: CliContext): Promise<number | undefined> {
  const outcome: Outcome = { code: 0 };
  try {
    await createProgram(context, outcome).parseAsync([...context.args], { from: 'user' });
    return outcome.code;
  } catch (error) {
    // It has been said already. Help that was asked for is no mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage.code;
    const { code, why } = endOf(error);
    console.error(penFor(process.stderr)('bad', plainLine(why, 2_000)));
    return code;
  }
}

function endOf(error: unknown): { readonly code: number; readonly why: string } {
  if (error instanceof CliError) return { code: exitCodes[error.exit].code, why: error.message };
  if (!(error instanceof ServiceError))
    return { code: exitCodes.refused.code, why: error instanceof Error ? error.message : String(error) };
  const { status, code, sentence: why } = error;
  if (code === 'PULL_REQUEST_NOT_SUBMITTED') return { code: exitCodes.notSubmitted.code, why };
  const isAway = status === null || status === 429 || status >= 500;
  return { code: exitCodes[isAway ? 'unreachable' : 'refused'].code, why };
}
