// What people ask for in comments on a pull request: `/signalbox merge -p high`, on a line of its own. Only the first such
// line of a comment counts; whatever else it says is for other people.

import { priorities } from './priority.ts';

export type CommentCommand =
  | {
      readonly kind: 'merge';
      /** Null: the default. */
      readonly priority: number | null;
      readonly noBatch: boolean;
      readonly force: boolean;
      /** The head that is meant, in lower case: its first seven digits or more; null: the one of the moment. */
      readonly sha: string | null;
    }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'status' }
  /** Meant for us, and not understood; says what would be. */
  | { readonly kind: 'mistake'; readonly message: string };

/**
 * Whether a comment may hold a command at all, whatever the word is. Every comment of a repository is asked this in the
 * process that serves the API, so it takes time in proportion to the text: the blanks before the slash are of one line.
 */
export const mayBeCommand = (text: string): boolean => /(?:^|\n)[^\S\n]*\//.test(text);

/** Null: nothing in it is meant for us. `words`: what may stand after the slash. */
export function parseComment(text: string, words: readonly string[]): CommentCommand | null {
  for (const line of text.split(/\r?\n/)) {
    const [first = '', ...rest] = line.trim().split(/\s+/);
    if (first.startsWith('/') && words.includes(first.slice(1).toLowerCase())) return parseLine(first, rest);
  }
  return null;
}

const usageOf = (word: string): string =>
  `Write \`${word} merge\`, \`${word} cancel\`, \`${word} restart\` or \`${word} status\` on a line of its own; \`merge\` takes the commit that you mean (seven digits or more), \`--priority=high\` (a name, or 0–255), \`--no-batch\` and \`--force\`.`;

function parseLine(word: string, [verb = '', ...options]: readonly string[]): CommentCommand {
  const kind = verb.toLowerCase();
  if (kind === 'merge') return parseMerge(word, options);
  if (kind !== 'cancel' && kind !== 'restart' && kind !== 'status')
    return {
      kind: 'mistake',
      message: `${verb === '' ? 'There is nothing to do' : `There is no command \`${shown(verb)}\``}. ${usageOf(word)}`,
    };
  const [extra] = options;
  return extra === undefined
    ? { kind }
    : { kind: 'mistake', message: `\`${kind}\` takes no \`${shown(extra)}\`. ${usageOf(word)}` };
}

function parseMerge(word: string, options: readonly string[]): CommentCommand {
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
      const wish = value ?? rest.shift() ?? '';
      const found = priorityOf(wish);
      if (found === null)
        return {
          kind: 'mistake',
          message: `\`${shown(wish)}\` is no priority: give ${Object.keys(priorities).join(', ')}, or a number from 0 to 255.`,
        };
      priority = found;
    } else return { kind: 'mistake', message: `\`merge\` takes no \`${shown(option)}\`. ${usageOf(word)}` };
  }
  return { kind: 'merge', priority, noBatch, force, sha };
}

function priorityOf(wish: string): number | null {
  const named = Object.entries(priorities).find(([name]) => name === wish.toLowerCase())?.[1];
  if (named !== undefined) return named;
  const value = /^\d{1,3}$/.test(wish) ? Number(wish) : 256;
  return value <= 255 ? value : null;
}

/** What somebody wrote, said back to them: short, and nothing of it is read as markup. */
const shown = (text: string): string => text.replaceAll(/[^\w=.-]/g, '').slice(0, 40) || '…';
