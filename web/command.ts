// The entries of the palette: a page to open, or an action.

import type { IconName } from './component/icon.tsx';

export type Command = {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon: IconName;
  readonly run: () => void;
};

export type CommandGroup = { readonly title: string; readonly commands: readonly Command[] };

/** Whether the text contains each term of the query. */
export function matchesQuery(query: string, text: string): boolean {
  const lowerCaseText = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((searchTerm) => lowerCaseText.includes(searchTerm));
}

/** The commands that match, without empty groups. */
export const filterCommands = (groups: readonly CommandGroup[], query: string): readonly CommandGroup[] =>
  groups.flatMap(({ title, commands }) => {
    const matching = commands.filter(({ label, description = '' }) =>
      matchesQuery(query, `${label} ${description}`),
    );
    return matching.length === 0 ? [] : [{ title, commands: matching }];
  });
