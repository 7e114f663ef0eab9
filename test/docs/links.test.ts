// Every link of the documentation leads somewhere, and every page can be reached from the first.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Page, pageFiles, readPage } from './page.ts';

const pages = new Map(pageFiles().map((file) => [file, readPage(file)]));

const isOurs = (href: string): boolean => !/^[a-z][a-z0-9+.-]*:/i.test(href);

function targetOf(page: Page, href: string): { readonly file: string; readonly anchor: string | null } {
  const [path = '', anchor] = decodeURI(href).split('#');
  return {
    file: path === '' ? page.file : normalize(join(dirname(page.file), path)),
    anchor: anchor ?? null,
  };
}

describe('a page', () => {
  it.each([...pages.values()].map((page) => [page.file, page] as const))(
    '%s links to what is there',
    (_, page) => {
      const broken = page.links.filter(isOurs).filter((href) => {
        const { file, anchor } = targetOf(page, href);
        if (!existsSync(file)) return true;
        return anchor !== null && file.endsWith('.md') && !(pages.get(file)?.anchors.has(anchor) ?? false);
      });
      expect(broken).toEqual([]);
    },
  );

  it('is linked to by another, beginning with README.md', () => {
    const reached = new Set(['README.md']);
    for (const file of reached)
      for (const href of pages.get(file)?.links ?? []) {
        const target = isOurs(href) ? targetOf(pages.get(file)!, href).file.replace(/\/$/, '') : null;
        if (target === null || !existsSync(target)) continue;
        // A link to a folder shows what is in it.
        if (statSync(target).isDirectory()) {
          for (const inside of pages.keys()) if (dirname(inside) === target) reached.add(inside);
        } else reached.add(target);
      }
    const guides = [...pages.keys()].filter((file) => file.startsWith('docs/'));
    expect(guides.filter((file) => !reached.has(file))).toEqual([]);
  });
});
