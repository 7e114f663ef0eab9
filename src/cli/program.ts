// The command line: every command, and how it ends. 0 is done, 1 is refused or failed, 2 is wrong usage; a command that
// has more codes says so in its help.

import { Command, CommanderError } from 'commander';
import { addCi } from './ci.ts';
import type { AddCommand, Cli, CliContext } from './command.ts';
import { addService } from './service.ts';

/** In the order of the help. */
const commands: readonly AddCommand[] = [addCi, addService];

type Outcome = { code: number | undefined };

function createProgram(context: CliContext, outcome: Outcome): Command {
  const program = new Command('signalbox')
    .description('A merge queue and test-health service that you run yourself.')
    .version(context.version)
    .showHelpAfterError('(signalbox --help lists the commands)')
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
  for (const add of commands) add(cli);
  for (const command of everyCommand(program)) command.exitOverride();
  return program;
}

function everyCommand(command: Command): readonly Command[] {
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
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}
