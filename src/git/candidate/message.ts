// The messages of the commits that land.
//
//   squash         <title> (#<number>), the pull request's body, its co-authors as trailers
//   merge_commit   Merge #<number>: <title>, the address of the pull request
//
// A line `merge-commit-title: …` in the body is the title instead, as it is written, and is not part of the body.
//
// The author of a squash is the account that opened the pull request, as its Git host names it in commits, as on GitHub
// (GitHub docs, "About pull request merges": a squash commit is authored by the author of the pull request). Where the host
// does not name it, the author is that of the first commit. Every other author of a commit, and every co-author named in a
// commit or in the body, is a co-author, once; two addresses of one account that differ only in its number are one person.
//
// Directives that keep CI from running are put in round brackets (skip-directive.ts).

import { withoutSkipDirectives, withoutVouching } from './skip-directive.ts';
import type { Commit, Person } from '../object.ts';

export type PullRequestDescription = {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  /** Its page on the host. */
  readonly url: string;
  /** The person who opened it; the author if the pull request has no commits of its own. */
  readonly author: Person | null;
  /** The account that opened it, as its Git host names it in commits; the author of a squash. */
  readonly account?: Person | null;
};

type MessageMethod = 'squash' | 'merge_commit';

const titleLine = /^[ \t]*merge-commit-title:(.*)$/im;
// A name or an address ends with its line: without that, a text of many such lines takes the square of their number.
const coAuthorLine = /^[ \t]*co-authored-by:([^<\n\r\u2028\u2029]*)<([^>\n\r\u2028\u2029]+)>[ \t]*$/gim;
const trailerLine = /^[A-Za-z][A-Za-z0-9-]*: \S/;

/** Removes what a commit message should not hold: NUL, which ends it, and carriage returns. */
const plain = (text: string) => text.replaceAll('\r\n', '\n').replaceAll(/[\0\r]/g, '');
const oneLine = (text: string) => plain(text).replaceAll(/\s+/g, ' ').trim();

function formatCommitTitle({ number, title, body }: PullRequestDescription, method: MessageMethod): string {
  const override = oneLine(titleLine.exec(plain(body))?.[1] ?? '');
  const own = oneLine(title) || 'Untitled';
  const whole = method === 'squash' ? `${own} (#${number})` : `Merge #${number}: ${own}`;
  return withoutSkipDirectives(override === '' ? whole : override);
}

export function mergeMessage(pull: PullRequestDescription): string {
  const url = oneLine(pull.url);
  return `${formatCommitTitle(pull, 'merge_commit')}\n${url === '' ? '' : `\n${url}\n`}`;
}

export function squashMessage(
  pull: PullRequestDescription,
  commits: readonly Commit[],
  author: Person,
): string {
  const body = plain(pull.body);
  const text = withoutVouching(withoutSkipDirectives(body))
    .replaceAll(new RegExp(`${titleLine.source}\n?`, 'gim'), '')
    .replaceAll(new RegExp(`${coAuthorLine.source}\n?`, 'gim'), '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  const trailers = collectCoAuthors(body, commits, author).map(
    ({ name, email }) => `Co-authored-by: ${name} <${email}>`,
  );
  const paragraphs = [formatCommitTitle(pull, 'squash'), ...(text === '' ? [] : [text])];
  if (trailers.length > 0) {
    // Trailers are one paragraph: a body that ends with its own gets these added to them.
    const joins =
      text !== '' &&
      text
        .split('\n\n')
        .at(-1)!
        .split('\n')
        .every((line) => trailerLine.test(line));
    if (joins) paragraphs[1] = `${text}\n${trailers.join('\n')}`;
    else paragraphs.push(trailers.join('\n'));
  }
  return `${paragraphs.join('\n\n')}\n`;
}

/** `7+ada@users.noreply.github.com` is also `ada@…` (GitHub docs, "Email addresses reference"). */
const addressKey = ({ email }: Person): string =>
  email.toLowerCase().replace(/^\d+\+(?=.*@users\.noreply\.)/, '');

function collectCoAuthors(body: string, commits: readonly Commit[], author: Person): readonly Person[] {
  const named = (text: string): readonly Person[] =>
    [...plain(text).matchAll(coAuthorLine)].map(([, name, email]) => ({
      name: oneLine(name!),
      email: oneLine(email!),
    }));
  const all = [...commits.flatMap((commit) => [commit.author, ...named(commit.message)]), ...named(body)];
  const found = new Map<string, Person>([[addressKey(author), author]]);
  for (const person of all) {
    const key = addressKey(person);
    if (key !== '' && !found.has(key)) found.set(key, person);
  }
  return [...found.values()].slice(1);
}
