// `npm run counts [-- --list] [--json]`: whether a stranger can read the project, in numbers: words of our own, type names
// with several meanings, functions whose names say nothing at the call site, folders and files that are too large, and
// imports that run in a circle. Over src, web, docs and README.md; exits with 1 if a goal is missed.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { goal, printGoals } from '../test/bench/figure.ts';
import { refusedWords } from './word-use.ts';

const { values } = parseArgs({
  options: { list: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});

const generated = /^docs\/reference\/|^src\/db\/database\.ts$|\/recorded\.json$/;
const files = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '--', 'src', 'web', 'docs', 'README.md'],
  {
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
  .filter((file) => !generated.test(file));
const texts = new Map(
  files
    .filter((file) => /\.(?:tsx?|md|css|html)$/.test(file))
    .map((file) => [file, readFileSync(file, 'utf8')]),
);
const code = new Map([...texts].filter(([file]) => /\.tsx?$/.test(file)));

type Found = { readonly where: string; readonly what: string };

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

const forbiddenWords = (): readonly Found[] =>
  [...texts].flatMap(([file, text]) =>
    refusedWords(file, text).map(({ what, instead, index }) => ({
      what: `${what} → ${instead}`,
      where: `${file}:${lineAt(text, index)}`,
    })),
  );

/** Names of TypeScript and of the platform, which a type of ours would hide. */
const taken = new Set(
  'Record Parameters Required Partial Pick Omit Response Request Event Error Map Set Promise Function Object Node Text Range Selection History Location Worker Comment'.split(
    ' ',
  ),
);

function ambiguousTypes(): readonly Found[] {
  const places = new Map<string, string[]>();
  for (const [file, text] of code) {
    if (file.endsWith('.test.ts')) continue;
    for (const { 1: name, index } of text.matchAll(
      /^(?:export )?(?:abstract )?(?:type|interface|class) (\w+)/gm,
    ))
      places.set(name!, [...(places.get(name!) ?? []), `${file}:${lineAt(text, index)}`]);
  }
  return [...places].flatMap(([what, where]) =>
    where.length > 1 || taken.has(what) ? [{ what, where: where.join(', ') }] : [],
  );
}

const functionsNamedOf = (): readonly Found[] =>
  [...code].flatMap(([file, text]) =>
    file.endsWith('.test.ts')
      ? []
      : [
          ...text.matchAll(/(?:function|const|let) ([a-z]\w*Of)\b(?:<|\(| = (?:async )?(?:<|\(|\w+ =>))/g),
        ].map((match) => ({
          what: match[1]!,
          where: `${file}:${lineAt(text, match.index)}`,
        })),
  );

/** Every decision is a file of its own, found by its number. */
const decisions = 'docs/decision';

function largeFolders(): readonly Found[] {
  const counts = Map.groupBy(files, (file) => dirname(file));
  counts.delete(decisions);
  return [...counts].flatMap(([what, list]) =>
    list.length > 25 ? [{ what, where: `${list.length} files` }] : [],
  );
}

const largeFiles = (): readonly Found[] =>
  [...texts].flatMap(([what, text]) => {
    const lines = text.split('\n').length;
    return lines > 400 && code.has(what) ? [{ what, where: `${lines} lines` }] : [];
  });

/** The files that each file imports when it runs, and those of which it uses a type. */
function importedFiles(file: string, text: string): readonly string[] {
  return [...text.matchAll(/from '([#.][^']+)'/g)]
    .map(([, specifier]) =>
      specifier!.startsWith('#')
        ? `src/${specifier!.slice(1)}`
        : posix.normalize(posix.join(dirname(file), specifier!)),
    )
    .filter((target) => code.has(target));
}

/** Files from which a way leads back to themselves, found as strongly connected parts (Tarjan). */
function cycles(): readonly Found[] {
  const imports = new Map([...code].map(([file, text]) => [file, importedFiles(file, text)]));
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const found: Found[] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    low.set(file, order.get(file)!);
    open.push(file);
    isOpen.add(file);
    for (const target of imports.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (isOpen.has(target)) low.set(file, Math.min(low.get(file)!, low.get(target)!));
    }
    if (low.get(file) !== order.get(file)) return;
    const part = open.splice(open.indexOf(file));
    for (const member of part) isOpen.delete(member);
    if (part.length > 1) found.push({ what: part.join(' → '), where: `${part.length} files` });
  };
  for (const file of code.keys()) if (!order.has(file)) visit(file);
  return found;
}

const counted: readonly { readonly name: string; readonly max: number; readonly found: readonly Found[] }[] =
  [
    { name: 'words of the list', max: 0, found: forbiddenWords() },
    { name: 'type names with more than one meaning', max: 0, found: ambiguousTypes() },
    { name: 'functions named xOf', max: 40, found: functionsNamedOf() },
    { name: 'folders with more than 25 files', max: 0, found: largeFolders() },
    { name: 'files over 400 lines', max: 0, found: largeFiles() },
    { name: 'import cycles', max: 0, found: cycles() },
  ];
if (values.list)
  for (const { name, found } of counted)
    for (const { what, where } of found) console.log(`${name}: ${what} (${where})`);
const goals = counted.map(({ name, max, found }) => goal(name, found.length, '<=', max));
if (values.json) console.log(JSON.stringify({ goals }, null, 2));
else printGoals(goals);
if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1;
