// Every kind of Git host that an organization can be connected to. The sandbox is none of them: it serves names
// without a connection (src/hosts.ts).

import { giteaKind } from './gitea/kind.ts';
import { githubKind } from './github/kind.ts';
import type { AccessMethod, HostKind } from './host-kind.ts';

export const hostKinds = {
  gitea: giteaKind,
  github: githubKind,
} as const satisfies Readonly<Record<string, HostKind>>;

export type HostKindName = keyof typeof hostKinds;

export const hostKindNames = Object.keys(hostKinds) as readonly HostKindName[];

export const isHostKind = (name: string | undefined): name is HostKindName =>
  name !== undefined && Object.hasOwn(hostKinds, name);

/** The kind of a host whose name shows it; null: any kind may have this name. */
export const findKindByName = (hostName: string): HostKindName | null =>
  hostKindNames.find((name) => hostKinds[name].isKnownName(hostName)) ?? null;

/** How a way is typed: `--app-id N --private-key-file FILE`. */
export const accessUsage = ({ options }: AccessMethod): string =>
  Object.entries(options)
    .map(([name, { value }]) => `--${name} ${value.toUpperCase()}`)
    .join(' ');

/** The options that the kinds take, each once, with the titles of the kinds that take it. */
export function listConnectOptions(): readonly {
  readonly name: string;
  readonly value: string;
  readonly text: string;
}[] {
  const found = new Map<string, { readonly value: string; readonly text: string; readonly of: string[] }>();
  for (const { title, access } of Object.values<HostKind>(hostKinds))
    for (const { options } of access)
      for (const [name, { value, text }] of Object.entries(options)) {
        const known = found.get(name) ?? { value, text, of: [] };
        known.of.push(title);
        found.set(name, known);
      }
  return [...found].map(([name, { value, text, of }]) => ({
    name,
    value,
    text: `${of.join(', ')}: ${text}`,
  }));
}
