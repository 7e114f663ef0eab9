import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isPermissive, listLicensed } from '../../script/licences.ts';

it('are permissive, each of them', () => {
  const licensed = listLicensed();
  expect(licensed.length).toBeGreaterThan(200);
  expect(licensed.filter(({ license }) => !isPermissive(license))).toEqual([]);
});

it('tells copyleft and unknown licences from permissive ones', () => {
  for (const good of ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC']) expect(isPermissive(good)).toBe(true);
  for (const bad of [
    'GPL-3.0-only',
    'MIT AND LGPL-3.0',
    'UNLICENSED',
    'SEE LICENSE IN LICENSE',
    'unknown',
    '',
  ])
    expect(isPermissive(bad)).toBe(false);
});

it('are listed of every package that the dashboard is built of', () => {
  const known = new Set(listLicensed().map(({ name }) => name));
  const imported = new Set(
    globSync('web/**/*.{ts,tsx}')
      .filter((file) => !/\.test\.tsx?$|node_modules|vite\.config/.test(file))
      .flatMap((file) => [
        ...readFileSync(file, 'utf8').matchAll(/^import [^;]*?'((?:@[\w-]+\/)?[\w-][\w.-]*)[/']/gm),
      ])
      .map(([, name]) => name!),
  );
  expect(imported.size).toBeGreaterThan(5);
  expect([...imported].filter((name) => !known.has(name))).toEqual([]);
});
