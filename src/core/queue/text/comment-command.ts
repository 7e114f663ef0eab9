// Commands in comments on a pull request: `/signalbox merge -p high`, on a line of its own. Only the first
// such line of a comment counts; the rest of the comment is ignored.

import { priorities } from '../priority.ts';

export type CommentCommand =
  | {
      readonly kind: 'merge';
      /** Null: the default. */
      readonly priority: number | null;
      readonly noBatch: boolean;
      readonly force: boolean;
      /** The head to submit, in lower case: its first seven digits or more; null: the current one. */
      readonly sha: string | null;
    }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'status' }
  /** A command that cannot be parsed; `message` says what is valid. */
  | { readonly kind: 'mistake'; readonly message: string };

/**
 * Whether a comment may hold a command at all, whatever its name. The process that serves the API calls this
 * for every comment of a repository, so it takes linear time: the blanks before the slash are on one line.
 */
export const mayBeCommand = (text: string): boolean => /(?:^|\n)[^\S\n]*\//.test(text);

/** Null: the comment holds no command. `commandNames`: what may stand after the slash. */
export function parseComment(text: string, commandNames: readonly string[]): CommentCommand | null {
  for (const line of text.split(/\r?\n/)) {
    const [first = '', ...rest] = line.trim().split(/\s+/);
    if (first.startsWith('/') && commandNames.includes(first.slice(1).toLowerCase()))
      return parseLine(first, rest);
  }
  return null;
}

const commandUsage = (slashCommand: string): string =>
  `Write \`${slashCommand} merge\`, \`${slashCommand} cancel\`, \`${slashCommand} restart\` or \`${slashCommand} status\` on a line of its own; \`merge\` accepts a commit (its first seven digits or more), \`--priority=high\` (a name, or 0–255), \`--no-batch\` and \`--force\`.`;

function parseLine(slashCommand: string, [verb = '', ...options]: readonly string[]): CommentCommand {
  const kind = verb.toLowerCase();
  if (kind === 'merge') return parseMerge(slashCommand, options);
  if (kind !== 'cancel' && kind !== 'restart' && kind !== 'status')
    return {
      kind: 'mistake',
      message: `${verb === '' ? 'The command is missing' : `There is no command \`${shown(verb)}\``}. ${commandUsage(slashCommand)}`,
    };
  const [extra] = options;
  return extra === undefined
    ? { kind }
    : {
        kind: 'mistake',
        message: `\`${kind}\` does not accept \`${shown(extra)}\`. ${commandUsage(slashCommand)}`,
      };
}

function parseMerge(slashCommand: string, options: readonly string[]): CommentCommand {
  let priority: number | null = null;
  let noBatch = false;
  let force = false;
  let sha: string | null = null;
  const rest = [...options];
  for (let option = rest.shift(); option !== undefined; option = rest.shift()) {
    const value = /^(?:--priority|-p)=(.+)$/.exec(option)?.[1];
    if (option === '--no-batch') noBatch = true;
    else if (option === '--force') force = true;
    else if (sha === null && /^[0-9a-f]{7,64}$/i.test(option)) sha = option.toLowerCase();
    else if (value !== undefined || option === '-p' || option === '--priority') {
      const priorityText = value ?? rest.shift() ?? '';
      const found = parsePriority(priorityText);
      if (found === null)
        return {
          kind: 'mistake',
          message: `\`${shown(priorityText)}\` is not a valid priority. Use ${Object.keys(priorities).join(', ')}, or a number from 0 to 255.`,
        };
      priority = found;
    } else
      return {
        kind: 'mistake',
        message: `\`merge\` does not accept \`${shown(option)}\`. ${commandUsage(slashCommand)}`,
      };
  }
  return { kind: 'merge', priority, noBatch, force, sha };
}

function parsePriority(priorityText: string): number | null {
  const named = Object.entries(priorities).find(([name]) => name === priorityText.toLowerCase())?.[1];
  if (named !== undefined) return named;
  const value = /^\d{1,3}$/.test(priorityText) ? Number(priorityText) : 256;
  return value <= 255 ? value : null;
}

/** Part of the user's text for an answer: short, and without markup. */
const shown = (text: string): string => text.replaceAll(/[^\w=.-]/g, '').slice(0, 40) || '…';
