// What the palette offers: somewhere to go, or something to do.

import type { IconName } from './component/icon.tsx';

export type Command = {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon: IconName;
  readonly run: () => void;
};

export type CommandGroup = { readonly title: string; readonly commands: readonly Command[] };

/** Whether each word of the query is somewhere in the text. */
export function fits(query: string, text: string): boolean {
  const within = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word));
}

/** The commands that fit, without groups that are left empty. */
export const narrowed = (groups: readonly CommandGroup[], query: string): readonly CommandGroup[] =>
  groups.flatMap(({ title, commands }) => {
    const left = commands.filter(({ label, description = '' }) => fits(query, `${label} ${description}`));
    return left.length === 0 ? [] : [{ title, commands: left }];
  });
