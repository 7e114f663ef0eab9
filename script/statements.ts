// Every statement of this version, one JSON text a line. The lines of the release before are kept in
// test/fixture/statements-before.jsonl: they must still work on the schema of this one (test/service/upgrade.test.ts).
// When a release is made: node script/statements.ts > test/fixture/statements-before.jsonl
import { readdirSync } from 'node:fs';
import { statementTexts } from '#db/statement.ts';

// Statements are made when their module is loaded.
const folder = new URL('../src/db/', import.meta.url);
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.ts') && !file.endsWith('.test.ts')) await import(new URL(file, folder).href);
for (const text of [...statementTexts].toSorted()) console.log(JSON.stringify(text.trim()));
