// What test/docs/commands.test.ts does not run: each block says why, and each `signalbox …` and `npm run …` in it is a
// command with options that exist.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCommandLine, shellWords } from '../support/parse-command.ts';
import { pageFiles, readPage } from './page.ts';

const pages = pageFiles().map(readPage);
/** Its examples are those of the commands' own help, and test/cli/examples.test.ts runs them. */
const runElsewhere = 'docs/reference/cli.md';

/** The commands of ours in a block: what a shell would pass to each. */
function signalboxCommands(text: string): readonly (readonly string[])[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/^[$#] /, '').replace(/\s#\s.*$/, ''))
    .filter((line) => !line.includes('…'))
    .flatMap((line) => line.split(/\s(?:\||&&|>|<)\s|\$\(|<\(|[;)]/))
    .map((part) => part.trim().replace(/^(?:npx |[A-Z_]+=\S+ )+/, ''))
    .filter((part) => part.startsWith('signalbox '))
    .map((part) => shellWords(part).slice(1));
}

describe('a block of code', () => {
  it.each(pages.map((page) => [page.file, page] as const))('of %s has a language', (_, { blocks }) => {
    expect(blocks.filter(({ language }) => language === '').map(({ text }) => text)).toEqual([]);
  });

  it.each(pages.map((page) => [page.file, page] as const))(
    'of %s that shows a terminal says why no test runs it',
    (file, { blocks }) => {
      const silent = blocks.filter(({ language, why }) => language === 'console' && why === '');
      expect(file === runElsewhere ? [] : silent.map(({ text }) => text)).toEqual([]);
    },
  );

  it.each(pages.map((page) => [page.file, page] as const))(
    'of %s has commands that exist',
    async (_, { blocks }) => {
      const typed = blocks.filter(({ language }) => language === 'sh' || language === 'console');
      for (const args of typed.flatMap(({ text }) => signalboxCommands(text)))
        expect(await parseCommandLine(args).catch(String), `signalbox ${args.join(' ')}`).toMatch(
          /^[a-z-]+$/,
        );
    },
  );
});

it('every file that a reason names exists', () => {
  const named = pages.flatMap(({ blocks }) =>
    blocks.flatMap(({ why }) =>
      [...why.matchAll(/\b(?:test|docs)\/[\w/-]+(?:\.[a-z]+)*/g)].map(([file]) => file),
    ),
  );
  expect(named).toContain('test/service/backup.test.ts');
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});

it('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
  const missing = pages.flatMap(({ file }) =>
    [...readFileSync(file, 'utf8').matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)]
      .filter(([, name]) => !Object.hasOwn(scripts, name!))
      .map(([command]) => `${file}: ${command}`),
  );
  expect(missing).toEqual([]);
});
