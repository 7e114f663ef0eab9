// Completions generated from the program's own command tree. Each shell gets a table of what may follow which
// commands; the names in a table come from the program, and hold nothing that a shell could interpret.

import type { Command, Option } from 'commander';

type CompletionNode = {
  /** The commands that lead here, without the program: `queue set`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly does: string }[];
  readonly options: readonly Option[];
  /** The possible values of the first argument, if they are known. */
  readonly choices: readonly string[];
};

function collectNodes(command: Command, path: readonly string[] = []): readonly CompletionNode[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const node: CompletionNode = {
    path: path.join(' '),
    commands: commands.map((child) => ({ name: child.name(), does: child.summary() || child.description() })),
    options: help.visibleOptions(command),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [node, ...commands.flatMap((child) => collectNodes(child, [...path, child.name()]))];
}

const listFlags = ({ long, short }: Option): readonly string[] =>
  [long, short].filter((flag) => typeof flag === 'string');

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const isFile = ({ flags }: Option): boolean => /<(file|folder|dir|glob)>/i.test(flags);

/** Quoted for any of the three shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`;

const listCompletions = ({ commands, options, choices }: CompletionNode): readonly string[] => [
  ...commands.map(({ name }) => name),
  ...choices,
  ...options.flatMap(listFlags),
];

function listOptionValues(nodes: readonly CompletionNode[]) {
  return nodes.flatMap(({ path, options }) =>
    options.filter(takesValue).flatMap((option) =>
      listFlags(option).map((flag) => ({
        path,
        flag,
        choices: option.argChoices ?? [],
        isFile: isFile(option),
      })),
    ),
  );
}

function bash(nodes: readonly CompletionNode[]): string {
  const values = listOptionValues(nodes);
  const choices = values.filter((value) => value.choices.length > 0);
  const files = values.filter((value) => value.isFile);
  const plain = values.filter((value) => value.choices.length === 0 && !value.isFile);
  const cases = (list: typeof values) => list.map(({ path, flag }) => quoted(`${path}:${flag}`)).join('|');
  return `# Completions of signalbox for bash.
_signalbox() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path= at name
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    name="\${path:+$path }\${COMP_WORDS[at]}"
    case "$name" in
      ${nodes
        .filter(({ path }) => path !== '')
        .map(({ path }) => quoted(path))
        .join('|')}) path=$name ;;
    esac
  done
  case "$path:$before" in
${choices.map(({ path, flag, choices: allowedValues }) => `    ${quoted(`${path}:${flag}`)}) COMPREPLY=($(compgen -W ${quoted(allowedValues.join(' '))} -- "$current")); return ;;`).join('\n')}
    ${cases(files)}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    ${cases(plain)}) return ;;
  esac
  case "$path" in
${nodes.map((node) => `    ${quoted(node.path)}) COMPREPLY=($(compgen -W ${quoted(listCompletions(node).join(' '))} -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _signalbox signalbox
`;
}

function zsh(nodes: readonly CompletionNode[]): string {
  const described = (name: string, does: string) => quoted(`${name}:${does.replaceAll(/[:\\]/g, ' ')}`);
  const describeCompletions = (node: CompletionNode) => [
    ...node.commands.map(({ name, does }) => described(name, does)),
    ...node.choices.map((choice) => described(choice, 'choice')),
    ...node.options.flatMap((option) => listFlags(option).map((flag) => described(flag, option.description))),
  ];
  const values = listOptionValues(nodes);
  return `#compdef signalbox
# Completions of signalbox for zsh.
_signalbox() {
  local path_= name at before=\${words[CURRENT-1]}
  local -a found
  for ((at = 2; at < CURRENT; at++)); do
    name="\${path_:+$path_ }\${words[at]}"
    case "$name" in
      ${nodes
        .filter(({ path }) => path !== '')
        .map(({ path }) => quoted(path))
        .join('|')}) path_=$name ;;
    esac
  done
  case "$path_:$before" in
${values.map(({ path, flag, choices, isFile: isPath }) => `    ${quoted(`${path}:${flag}`)}) ${choices.length > 0 ? `compadd -- ${choices.map(quoted).join(' ')}` : isPath ? '_files' : "_message 'value'"}; return ;;`).join('\n')}
  esac
  case "$path_" in
${nodes.map((node) => `    ${quoted(node.path)}) found=(${describeCompletions(node).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'signalbox' found || _files
}
if [ "\${funcstack[1]}" = _signalbox ]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;
}

function fish(nodes: readonly CompletionNode[]): string {
  const lines = nodes.flatMap((node) => {
    const here = `-n ${quoted(`__signalbox_at ${node.path}`.trim())}`;
    return [
      ...node.commands.map(
        ({ name, does }) => `complete -c signalbox -f ${here} -a ${quoted(name)} -d ${quoted(does)}`,
      ),
      ...node.choices.map((choice) => `complete -c signalbox -f ${here} -a ${quoted(choice)}`),
      ...node.options.map((option) => {
        const long = option.long === undefined ? '' : ` -l ${quoted(option.long.slice(2))}`;
        const short = option.short === undefined ? '' : ` -s ${quoted(option.short.slice(1))}`;
        const allowedValues = option.argChoices ?? [];
        const value = takesValue(option)
          ? allowedValues.length > 0
            ? ` -x -a ${quoted(allowedValues.join(' '))}`
            : isFile(option)
              ? ' -r -F'
              : ' -x'
          : '';
        return `complete -c signalbox ${here}${long}${short}${value} -d ${quoted(option.description)}`;
      }),
    ];
  });
  return `# Completions of signalbox for fish.
function __signalbox_at
    set -l path
    for part in (commandline -opc)[2..]
        set -l next (string join -- ' ' $path $part)
        if contains -- $next ${nodes
          .filter(({ path }) => path !== '')
          .map(({ path }) => quoted(path))
          .join(' ')}
            set path $path $part
        end
    end
    test "$path" = "$argv"
end
complete -c signalbox -f
${lines.join('\n')}
`;
}

export function completionFor(shell: 'bash' | 'zsh' | 'fish', program: Command): string {
  const nodes = collectNodes(program);
  return { bash, zsh, fish }[shell](nodes);
}
