// `npm run lint:patterns`: no regular expression of src/ takes more time than in proportion to its text. Texts come from
// strangers (comments, reports, commit messages), and a slow pattern stops the whole process.
//
// recheck decides, by theory or by trying. What it found safe is kept in script/safe-patterns.json, since it takes seconds
// for some; a pattern that is not there is looked at now. `-- --write` adds those; `-- --all` looks at every one.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { check } from 'recheck';
import { parseAst } from 'rolldown/parseAst';

const knownFile = 'script/safe-patterns.json';

/** Patterns that recheck takes for slow and that are not: each with its reason. */
const excused: Readonly<Record<string, string>> = {
  '/(?:lambda|block|closure|fn|anonfun)\\$?[\\w$]{0,40}\\$\\d{1,9}/gu':
    'Each start looks at 40 characters at most, so it takes 40 times the length of the text.',
};

/** Files that make regular expressions from parts: each with its reason. */
const makers: Readonly<Record<string, string>> = {
  'src/config/path-glob.ts': 'Patterns of at most 200 characters that the user of the command line wrote.',
  'src/core/health/fingerprint/fingerprint-mask.ts': 'Every repetition has a bound, and so has the text.',
  'src/core/health/fingerprint/fingerprint.ts': 'Every repetition has a bound, and so has the text.',
  'src/core/queue/rule/branch-name.ts': 'Tried on 255 characters at most.',
  'src/git/candidate/message.ts': 'Made of two patterns that are looked at here.',
  'src/host/gitea/rule/glob.ts': 'A set of letters, tried on one letter.',
  'src/http/app/app-static.ts': 'One of two names, in a header.',
  'src/report/format/redact.ts': 'Every repetition has a bound, and a start is tried once for each word.',
};

type Found = { readonly source: string; readonly flags: string; readonly places: string[] };

const patterns = new Map<string, Found>();
const problems: string[] = [];

type Node = { readonly type?: string; readonly start?: number } & Readonly<Record<string, unknown>>;

function look(file: string, text: string, node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const item of node) look(file, text, item);
    return;
  }
  const { type, start = 0, regex, callee } = node as Node;
  const place = `${file}:${text.slice(0, start).split('\n').length}`;
  if (type === 'Literal' && regex !== undefined) {
    const { pattern, flags } = regex as { readonly pattern: string; readonly flags: string };
    const name = `/${pattern}/${flags}`;
    const found = patterns.get(name) ?? { source: pattern, flags, places: [] };
    found.places.push(place);
    patterns.set(name, found);
  }
  const isMade = type === 'NewExpression' || type === 'CallExpression';
  if (isMade && (callee as Node)['name'] === 'RegExp' && makers[file] === undefined)
    problems.push(`${place}: makes a regular expression from parts. Write it as a literal, or use a loop.`);
  for (const value of Object.values(node)) if (typeof value === 'object') look(file, text, value);
}

for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
  const text = readFileSync(`src/${name}`, 'utf8');
  look(`src/${name}`, text, parseAst(text, { lang: 'ts' }));
}

const isWriting = process.argv.includes('--write');
const isForAll = process.argv.includes('--all');
const known = new Set(isForAll ? [] : (JSON.parse(readFileSync(knownFile, 'utf8')) as string[]));
const safe: string[] = [];
for (const [name, { source, flags, places }] of patterns) {
  if (known.has(name) || excused[name] !== undefined) continue;
  const verdict = await check(source, flags, { timeout: 60_000 });
  const why = verdict.status === 'vulnerable' ? verdict.complexity.summary : verdict.status;
  if (verdict.status === 'safe') safe.push(name);
  else problems.push(`${places.join(', ')}: ${name} is ${why}. See src/base/text.ts.`);
}
if (isWriting) {
  const kept = [...patterns.keys()].filter((name) => known.has(name));
  writeFileSync(knownFile, `${JSON.stringify([...kept, ...safe].toSorted(), null, 2)}\n`);
}
for (const problem of problems) console.error(problem);
if (safe.length > 0 && !isWriting)
  console.log(`Looked at ${safe.length} new patterns; npm run lint:patterns -- --write remembers them.`);
process.exitCode = problems.length === 0 ? 0 : 1;
