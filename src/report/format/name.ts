// Names as identities: what a runner adds to them by chance is taken off, so that a test keeps its name from run to run.

import { hash } from 'node:crypto';

/** Bazel numbers the shards of a target; which one a test falls into changes with their number. */
const shard = /_shard_\d{1,6}(?:[_/](?:of_)?\d{1,6})?$/;
/** Mocha and Cypress name a failed hook after the test it was meant for; it is a failure of the suite. */
const hook = /("(?:before|after) (?:each|all)" hook(?:: [^"]{1,256})?) (?:for|in) "/;

export function stableName(name: string): string {
  let stable = name;
  if (stable.includes('_shard_')) stable = stable.replace(shard, '');
  return stable.includes('" hook') ? withoutHookTarget(stable) : stable;
}

/** Without `for "the test"`. The test's name ends at the last quote that has the end or `: ` behind it. */
function withoutHookTarget(name: string): string {
  const found = hook.exec(name);
  if (found === null) return name;
  const from = found.index + found[0].length;
  const end = name.endsWith('"') ? name.length - 1 : name.lastIndexOf('": ');
  return end < from ? name : name.slice(0, found.index) + found[1]! + name.slice(end + 1);
}

/** With forward slashes, without a leading `./`. */
export function normalizePath(file: string): string {
  const path = file.includes('\\') ? file.replaceAll('\\', '/') : file;
  return path.startsWith('./') ? path.slice(2) : path;
}

/** Two long names that differ anywhere stay different. */
export function boundedName(name: string, lengthMax: number): string {
  if (name.length <= lengthMax) return name;
  const rest = hash('sha256', name).slice(0, 16);
  return `${name.slice(0, Math.max(0, lengthMax - 18)).toWellFormed()}… ${rest}`;
}

const version5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Only a version 5 UUID is an identity; other ids are numbers of the run. */
export const parseUuidV5 = (id: string): string | null => (version5.test(id) ? id.toLowerCase() : null);

/** What Playwright writes as a message is the place of the test. What went wrong is the first line below the heading. */
export function errorOfBody(body: string): { readonly type: string; readonly message: string } {
  const lines = body.slice(0, 8_192).split('\n');
  const first = lines.map((line) => line.trim()).find((line) => line !== '' && !line.includes(' › '));
  if (first === undefined) return { type: '', message: '' };
  const named = /^((?:[A-Z]\w{0,64})?(?:Error|Exception|Timeout))(?::\s|$)/.exec(first);
  return { type: named?.[1] ?? '', message: named === null ? first : first.slice(named[0].length) };
}
