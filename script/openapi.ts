// The published contract as a file: docs/reference/openapi.json. `--check` fails when it is not what the code makes.
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { openApiDocument } from '#contract/endpoint/openapi.ts';

const file = 'docs/reference/openapi.json';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const document = openApiDocument({ publicUrl: 'https://signalbox.example', version });
const text = await format(JSON.stringify(document), { parser: 'json', printWidth: 110 });

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error(`${file} is not what the code makes. Run: npm run docs`);
  process.exit(1);
}
