// Every statement that a version of the program prepares, one JSON text a line. The lines of the release before are kept
// in test/fixture/statements-before.jsonl: they must go on to work on the schema of this one (test/upgrade.test.ts).
// When a release is made: node script/statements.ts > test/fixture/statements-before.jsonl
//
// Usage: node script/statements.ts [folder of the version]
import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2] ?? '.');
const texts = new Set<string>();
Object.assign(globalThis, { noteStatement: (text: string) => texts.add(text) });

// Statements are made when their module is loaded, each by one call of this function.
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith('/src/db/statement.ts')) return loaded;
    const source = readFileSync(new URL(url), 'utf8');
    return {
      ...loaded,
      source: source.replace(/(export function statement.*\{\n)/, '$1  noteStatement(text);\n'),
    };
  },
});

const files = readdirSync(`${folder}/src/db`).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);
for (const file of files) await import(pathToFileURL(`${folder}/src/db/${file}`).href);
for (const text of [...texts].toSorted()) console.log(JSON.stringify(text.trim()));
