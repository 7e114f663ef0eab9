// Where a file uses words of the list (word-list.ts). A name is compared part by part with the words for names, and only where
// it is code; sentences are compared with the words and phrases for sentences. So "look at the log" is plain English in a
// comment, and `lookOf` is a name that says nothing.
import { parseSync, Visitor } from 'rolldown/utils';
import { identifierWords, phrases, proseWords, publishedKeys, publishedNames } from './word-list.ts';

export type WordUse = {
  /** As it stands in the file. */
  readonly what: string;
  readonly instead: string;
  readonly index: number;
  /** A name of something, and no word of a sentence. */
  readonly isName: boolean;
};

/** A name as the parts it is made of: `isTold` is of `is` and `told`, `told_at` of `told` and `at`. */
const nameParts = (name: string): readonly string[] =>
  name.split(/(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+/).map((part) => part.toLowerCase());

const isCompound = (token: string): boolean => /[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]/.test(token);

function refusedInName(name: string): string | undefined {
  if (publishedNames.has(name)) return undefined;
  const part = nameParts(name).find((candidate) => identifierWords.has(candidate));
  return part === undefined ? undefined : identifierWords.get(part);
}

const phrasePatterns = [...phrases].map(([phrase, instead]) => ({
  instead,
  pattern: new RegExp(String.raw`\b${phrase.replaceAll(' ', String.raw`[\s*/#>|]+`)}\b`, 'gi'),
}));

/**
 * Plain English that contains a word of the list: "a round trip", "the command tells you", "in line with the rules"; and the
 * secret of GitHub's documented example of a signature.
 */
const plain =
  /\bround[\s*/-]+trips?\b|\btells\s+you\b|\bin\s+line\s+(?:with\b|\d)|\bIt's a Secret to Everybody\b/gi;

/** The uses in a piece of text that people read. Names in it are those in `backticks` and those with a seam. */
export function refusedInProse(text: string): readonly WordUse[] {
  const read = text.replaceAll(plain, (phrase) => '-'.repeat(phrase.length));
  const found: WordUse[] = [];
  for (const { 0: what, index } of read.matchAll(/`[\w.-]+`|"\w+"(?=:)|[A-Za-z][A-Za-z0-9_]*/g)) {
    const token = what.replaceAll(/[`"]/g, '');
    const isQuoted = token !== what;
    if (isQuoted && publishedKeys.has(token)) continue;
    const instead =
      (isQuoted || isCompound(token) ? refusedInName(token) : undefined) ??
      proseWords.get(token.toLowerCase());
    if (instead !== undefined) found.push({ what, instead, index, isName: isQuoted || isCompound(token) });
  }
  for (const { pattern, instead } of phrasePatterns)
    for (const { 0: what, index } of read.matchAll(pattern))
      found.push({ what: what.replaceAll(/\s+/g, ' '), instead, index, isName: false });
  return found.toSorted((a, b) => a.index - b.index);
}

/** The text with everything but the given ranges made unreadable, so that places stay and no sentence runs over code. */
function onlyRanges(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  let kept = '';
  let at = 0;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    kept += text.slice(at, start).replaceAll(/\S/g, '\u0001') + text.slice(Math.max(at, start), end);
    at = Math.max(at, end);
  }
  return kept + text.slice(at).replaceAll(/\S/g, '\u0001');
}

const isStatement = (text: string): boolean =>
  /^\s*(?:select|insert into|update \w+|delete from|with (?:recursive )?\w+)\b/.test(text) &&
  /\n|\$\d/.test(text);

/** A literal that names something (a key, a file, a task) and is no sentence. */
const isName = (text: string): boolean =>
  /^[\w#@./:-]+$/.test(text) && (/[_/-]/.test(text) || /^[a-z][A-Za-z]*$/.test(text));

const readsOrWritesJson = (file: string): boolean =>
  /^(?:web|src\/(?:contract|http|cli|tool|event|config))\/|^src\/db\/stored-item\.ts$/.test(file);

function refusedInCode(file: string, text: string): readonly WordUse[] {
  const { program, comments } = parseSync(file, text);
  const found: WordUse[] = [];
  const published = new Set<number>();
  const key = (node: { readonly type: string; readonly start: number }): void => {
    if (readsOrWritesJson(file)) published.add(node.start);
  };
  const prose: (readonly [number, number])[] = comments.map(({ start, end }) => [start, end] as const);
  const name = (what: string, index: number): void => {
    const instead = refusedInName(what);
    if (instead !== undefined) found.push({ what, instead, index, isName: true });
  };
  const namesIn = (content: string, start: number): void => {
    for (const { 0: what, index } of content.matchAll(/[A-Za-z][A-Za-z0-9_]*/g)) name(what, start + index);
  };
  new Visitor({
    Property: (node) => key(node.key),
    TSPropertySignature: (node) => key(node.key),
    MemberExpression: (node) => key(node.property),
    Identifier: (node) => name(node.name, node.start),
    PrivateIdentifier: (node) => name(node.name, node.start),
    JSXIdentifier: (node) => name(node.name, node.start),
    JSXText: (node) => prose.push([node.start, node.end]),
    Literal: (node) => {
      if (typeof node.value !== 'string') return;
      if (publishedNames.has(node.value) || (publishedKeys.has(node.value) && readsOrWritesJson(file)))
        return;
      if (isName(node.value) || isStatement(node.value)) namesIn(node.value, node.start);
      else prose.push([node.start + 1, node.end - 1]);
    },
    TemplateLiteral: (node) => {
      const isSql = isStatement(text.slice(node.start + 1, node.end));
      for (const { start, end, value } of node.quasis)
        if (isSql) namesIn(value.raw, start);
        else prose.push([start, end]);
    },
  }).visit(program);
  const readable = onlyRanges(text, prose).replaceAll(/\\[nrt]/g, '  ');
  const names = found.filter(({ what, index }) => !(publishedKeys.has(what) && published.has(index)));
  return [...names, ...refusedInProse(readable)].toSorted((a, b) => a.index - b.index);
}

/** Files whose subject is what something was called in an earlier release: there, names are left alone. */
const listsFormerNames = (file: string): boolean =>
  /^docs\/decision\/\d+-names-in-the-schema\.md$|\/former-[a-z-]+\.ts$/.test(file);

/** The uses in one file, and in its name. */
export function refusedWords(file: string, text: string): readonly WordUse[] {
  const instead = refusedInName(file);
  const inName = instead === undefined ? [] : [{ what: file, instead, index: 0, isName: true }];
  const uses = /\.tsx?$/.test(file) ? refusedInCode(file, text) : refusedInProse(text);
  return [...inName, ...(listsFormerNames(file) ? uses.filter(({ isName }) => !isName) : uses)];
}
