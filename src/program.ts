// The command line: every command, and its exit code (see exit-codes.ts).

import { Command, CommanderError } from 'commander';
import { addAdmin } from './cli/admin/admin-command.ts';
import { addConnect } from './cli/admin/connect-command.ts';
import { addService } from './cli/admin/service.ts';
import { addWebhook } from './cli/admin/webhook.ts';
import { addCi } from './cli/ci/ci.ts';
import { addLogin } from './cli/client/login.ts';
import { ServiceError } from './cli/client/transport.ts';
import type { AddCommand, Cli, CliContext } from './cli/command.ts';
import { addCompletion } from './cli/completion.ts';
import { addDemo, type DemoOptions } from './tool/demo/demo-command.ts';
import { CliError, exitCodes } from './cli/exit-codes.ts';
import { addMcp } from './tool/mcp/mcp.ts';
import { addPullRequest } from './cli/pull-request/pull-request.ts';
import { addStatus } from './cli/pull-request/status.ts';
import { addTargets } from './cli/pull-request/targets.ts';
import { addImport } from './tool/import/import.ts';
import { addQueue } from './cli/queue/queue.ts';
import { addSimulate } from './tool/simulate/command/simulate.ts';
import { penFor } from './cli/terminal/output.ts';
import { plainLine } from './cli/terminal/plain-text.ts';
import { addQuarantine } from './cli/test-health/quarantine.ts';
import { addTests } from './cli/test-health/tests.ts';

/** The context of the commands, and the function that runs the demo, which is a separate tool. */
export type ProgramContext = CliContext & { readonly demo: (options: DemoOptions) => Promise<number> };

/** In the order of the help. */
const groupsFor = ({ demo }: ProgramContext): Readonly<Record<string, readonly AddCommand[]>> => ({
  'Try it:': [addDemo(demo)],
  'Pull requests and queues:': [addPullRequest, addStatus, addQueue, addTargets, addSimulate],
  'Move from another merge queue:': [addImport],
  'Tests:': [addCi, addTests, addQuarantine],
  'This machine:': [addLogin, addMcp, addCompletion],
  'The service:': [addService, addAdmin, addConnect, addWebhook],
});

type ProgramOutcome = { code: number | undefined };

export function createProgram(context: ProgramContext, outcome: ProgramOutcome): Command {
  const program = new Command('signalbox')
    .description('A self-hosted merge queue and test-health service.')
    .version(context.version, '-V, --version', 'show the version')
    .showHelpAfterError('(use --help for usage)')
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
  for (const [title, adds] of Object.entries(groupsFor(context))) {
    program.commandsGroup(title);
    for (const add of adds) add(cli);
  }
  program.helpCommand('help [command]', 'show help for a command');
  for (const command of everyCommand(program))
    command.exitOverride().helpOption('-h, --help', 'show this help');
  return program;
}

export function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Returns the exit code; undefined: work is still in progress, and the process exits when it is done. */
export async function runProgram(context: ProgramContext): Promise<number | undefined> {
  const outcome: ProgramOutcome = { code: 0 };
  try {
    await createProgram(context, outcome).parseAsync([...context.args], { from: 'user' });
    return outcome.code;
  } catch (error) {
    // Commander has printed the error. Requested help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage.code;
    const { code, why } = mapErrorToExit(error);
    console.error(penFor(process.stderr)('bad', plainLine(why, 2_000)));
    return code;
  }
}

function mapErrorToExit(error: unknown): { readonly code: number; readonly why: string } {
  if (error instanceof CliError) return { code: exitCodes[error.exit].code, why: error.message };
  if (!(error instanceof ServiceError))
    return { code: exitCodes.refused.code, why: error instanceof Error ? error.message : String(error) };
  const { status, code, sentence: why } = error;
  if (code === 'PULL_REQUEST_NOT_SUBMITTED') return { code: exitCodes.notSubmitted.code, why };
  const isUnreachable = status === null || status === 429 || status >= 500;
  return { code: exitCodes[isUnreachable ? 'unreachable' : 'refused'].code, why };
}
