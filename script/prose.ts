// `npm run lint:prose [-- FILE …]`: whether the pages of the project are in plain language, by the rules in script/prose. Pages that
// are generated are left out, since their sentences come from the code, where `npm run counts` reads them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { lintProse } from './prose/lint.ts';

const generated =
  /^docs\/reference\/(?:api|cli|config|errors|licences|retention|rules|settings)\.md$|^test\/|^\.github\//;

const named = process.argv.slice(2);
const files =
  named.length > 0
    ? named
    : execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .filter((file) => !generated.test(file) && existsSync(file));

let count = 0;
for (const file of files)
  for (const { line, rule, message } of await lintProse(readFileSync(file, 'utf8'))) {
    count += 1;
    console.log(`${file}:${line} ${rule}: ${message}`);
  }
if (count > 0) {
  console.log(`${count} ${count === 1 ? 'place' : 'places'} in ${files.length} pages`);
  process.exitCode = 1;
}
