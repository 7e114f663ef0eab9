// Parses a command that a page or a workflow asks people to type, as the command line would, without running it.
import { createProgram, everyCommand } from '#program.ts';

/** The name of the command; a word or an option that the command line does not know is thrown. */
export async function parseCommandLine(args: readonly string[]): Promise<string> {
  const context = {
    cwd: '/',
    env: {},
    version: '0',
    args,
    service: async () => 0,
    demo: async () => 0,
  };
  const program = createProgram(context, { code: 0 });
  let parsed = '';
  for (const command of everyCommand(program)) {
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    command.action(() => {
      parsed = command.name();
    });
  }
  await program.parseAsync([...args], { from: 'user' });
  return parsed;
}

/** The words of a line as a shell passes them; a variable stands for `main`. */
export const shellWords = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) =>
    (single ?? double ?? bare ?? '').replace(/^\$\w+$/, 'main'),
  );
