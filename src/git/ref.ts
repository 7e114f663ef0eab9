// Names of references and commits. A name from outside becomes part of a refspec, so it is checked first: a colon, a
// star or a line break in it would make the refspec mean something else.

import { assert } from '#base/assert.ts';

/** Git rejects only the ASCII control characters. */
const component = /^(?!\.)(?!.*(\.\.|@\{|\.lock$))([^\p{Cc} ~^:?*[\\]|[\u0080-\u009f])+$/su;

/** The rules of `git check-ref-format` for a whole name, such as `refs/heads/main`. */
export function isRefName(name: string): boolean {
  const parts = name.split('/');
  return parts.length >= 2 && !name.endsWith('.') && parts.every((part) => component.test(part));
}

export function branchRef(branch: string): string {
  const name = `refs/heads/${branch}`;
  assert(isRefName(name), 'a branch has a valid name');
  return name;
}

/**
 * Where the mirror keeps a branch. Flat, because `a` and `a/b` cannot exist side by side: a mirror that still has the
 * branch `a` could not take `a/b` after `a` was deleted on the remote.
 */
export function baseRef(branch: string): string {
  return `refs/signalbox/base/${branch.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
}

export function pullRef(number: number): string {
  return `refs/signalbox/pull/${number}`;
}

/** Where the mirror keeps any other reference of the remote. */
export function otherRef(ref: string): string {
  assert(isRefName(ref), 'a reference has a valid name');
  return `refs/signalbox/other/${ref.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
}

export function remotePullRef(number: number): string {
  assert(Number.isSafeInteger(number) && number > 0, 'a pull request has a number');
  return `refs/pull/${number}/head`;
}

/** Where GitHub keeps its own trial merge of a pull request, and the sandbox too. */
export function trialMergeRef(number: number): string {
  assert(Number.isSafeInteger(number) && number > 0, 'a pull request has a number');
  return `refs/pull/${number}/merge`;
}

/** A whole SHA-1 or SHA-256, in lower case. */
export function assertSha(sha: string): void {
  assert(/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(sha), 'a commit is named by its whole hash');
}
