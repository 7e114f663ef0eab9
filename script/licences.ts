// Which packages of others are given on with Signalbox, and by which licences: those of the service, and those that are
// built into the dashboard. From package-lock.json, so that it is the same on every machine. reference.ts makes the page.

import { readFileSync } from 'node:fs';

type Locked = {
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};

type Lock = { readonly packages: Readonly<Record<string, Locked>> };

export type Licensed = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Whether it is part of the service, or of the pages that it serves. */
  readonly part: 'service' | 'dashboard' | 'both';
};

/** Packages that the dashboard is built with but that are no part of it, and what nobody installs with the service. */
const dashboardRoots = [
  '@dagrejs/dagre',
  '@mantine/core',
  '@mantine/hooks',
  '@mantine/spotlight',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  '@xyflow/react',
  'react',
  'react-dom',
  'uplot',
];

/** Licences that ask for no more than to be named, and for their text to go along. */
const permissive: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** `A OR B` is good if one is, `A AND B` if both are. */
export const isPermissive = (license: string): boolean =>
  license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((part) => permissive.has(part.trim())));

/** Where Node.js finds a package: in the folder of whoever asks, or in one above it. */
function placeOf({ packages }: Lock, from: string, name: string): string | null {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (place in packages) return place;
    if (at === '') return null;
  }
}

function reachable(lock: Lock, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (from: string, name: string) => {
    const place = placeOf(lock, from, name);
    if (place === null || found.has(place)) return;
    found.add(place);
    const { dependencies, optionalDependencies, peerDependencies } = lock.packages[place]!;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(place, next);
  };
  for (const name of names) visit('', name);
  return found;
}

const nameOf = (place: string): string =>
  place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

export function listLicensed(): readonly Licensed[] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const { dependencies, optionalDependencies } = lock.packages['']!;
  const service = reachable(lock, Object.keys({ ...dependencies, ...optionalDependencies }));
  const dashboard = reachable(lock, dashboardRoots);
  const rows = [...new Set([...service, ...dashboard])].map((place): Licensed => {
    const { version, license = 'unknown' } = lock.packages[place]!;
    const part = !dashboard.has(place) ? 'service' : service.has(place) ? 'both' : 'dashboard';
    return { name: nameOf(place), version, license, part };
  });
  const keyOf = ({ name, version }: Licensed) => `${name}@${version}`;
  const unique = new Map(rows.map((row) => [keyOf(row), row]));
  return [...unique.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
