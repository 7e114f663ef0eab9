// docs/reference/cli.md: every command with its arguments, options and examples, made from the program itself.

import type { Command } from 'commander';
import { listCommandExamples } from '#cli/command.ts';
import { exitCodes } from '#cli/exit-codes.ts';
import { createProgram } from '#program.ts';
import { table } from './table.ts';

const nothing = () => Promise.resolve(0);

/** The program, of which nothing is run. */
const program = createProgram(
  { cwd: '/', env: {}, version: '', args: [], service: nothing, demo: nothing },
  { code: 0 },
);

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

/** A word as code, with what a table of Markdown would take for its own. */
const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

const sentence = (text: string): string => {
  const begun = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
  return /[.:!?]$/.test(begun) ? begun : `${begun}.`;
};

function choicesText(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : `: ${choices.map(code).join(', ')}`;
}

function commandSection(command: Command): string {
  const help = command.createHelp();
  const rows = [
    ...help
      .visibleArguments(command)
      .map((argument) => [
        code(help.argumentTerm(argument)),
        argument.description + choicesText(argument.argChoices),
      ]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((option) => [code(option.flags), option.description + choicesText(option.argChoices)]),
  ];
  const examples = listCommandExamples(command).flatMap(({ line, does }) => [`# ${does}`, `$ ${line}`]);
  return [
    `### \`${pathOf(command)}\``,
    sentence(command.description()),
    code(help.commandUsage(command)),
    rows.length === 0 ? '' : table(['argument or option', 'what it is'], rows),
    `\`\`\`console\n${examples.join('\n')}\n\`\`\``,
  ].join('\n\n');
}

const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

export function cliPage(): string {
  const groups = Map.groupBy(
    program.commands.filter((command) => command.name() !== 'help'),
    (command) => command.helpGroup(),
  );
  const sections = [...groups].map(([title, commands]) =>
    [`## ${title.replace(/:$/, '')}`, ...commands.flatMap(leavesOf).map(commandSection)].join('\n\n'),
  );
  const codes = Object.values(exitCodes).map((exit) => [String(exit.code), exit.means]);
  return `# Command line

Every command and what it takes. \`signalbox <command> --help\` shows the same; the
[tutorial](../tutorial/command-line.md) shows how they are used together.

${sections.join('\n\n')}

## Exit codes

${table(['code', 'meaning'], codes)}

\`signalbox test\` ends with the code of the command that it ran, or with 0 where every failed test is quarantined; with 127
where there is no such command.
`;
}
