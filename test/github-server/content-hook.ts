// Run by the update hook of a repository whose branch has rules on content: prints each violation. The pushed objects are
// in quarantine then, and git's own variables say where.

import { contentObjection } from './content-rule.ts';
import type { Rule } from './model.ts';

const [, , ref, old = '', to = ''] = process.argv;
const nothing = '0'.repeat(40);

const wanted = ['GIT_DIR', 'GIT_QUARANTINE_PATH', 'GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES'];
const environment = Object.fromEntries(
  wanted.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

export type HookRule = { readonly ref: string; readonly headline: string; readonly rule: Rule };

if (to !== nothing)
  for (const { ref: own, headline, rule } of JSON.parse(
    process.env['GITHUB_SERVER_CONTENT_RULES'] ?? '[]',
  ) as readonly HookRule[]) {
    if (own !== ref) continue;
    const range = { from: old === nothing ? null : old, to };
    const words = await contentObjection({ directory: process.cwd(), environment }, range, rule);
    if (words !== null) console.log(`${headline} - ${words}`);
  }
