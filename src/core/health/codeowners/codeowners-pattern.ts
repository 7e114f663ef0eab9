// The patterns of CODEOWNERS files, in the syntax of GitHub and of GitLab (see codeowners.ts), and whether
// one matches a path. Both levels, folders along a path and characters along a name, are matched by going
// back to the last wildcard only: an earlier one never has to match more, so a match takes at most pattern
// length times path length.

export type CodeownersSyntax = 'github' | 'gitlab';

/** What matches one character: itself, `?`, or a set. `*` matches any number of them. */
type Piece =
  | number
  | '?'
  | '*'
  | {
      readonly isNegated: boolean;
      readonly ranges: readonly (readonly [from: number, to: number])[];
    };

/** What matches one name of a path: just that text, or pieces. */
type Name = { readonly text: string } | Pieces;

type Pieces = {
  readonly pieces: readonly Piece[];
  /** The beginning and the end of every match: most names are rejected by these. */
  readonly head: string;
  readonly tail: string;
};

type PatternSegment = Name | '**';

export type Pattern = {
  /** `**` stands for any number of folders; at the end for at least one name. */
  readonly names: readonly PatternSegment[];
  /** Whether everything below a match matches too. */
  readonly isFolder: boolean;
};

/** How much matching may still be done: about one step per character that is compared. */
export type MatchBudget = { steps: number };

const anyDepth: readonly PatternSegment[] = ['**'];
const anyName: Name = compilePieces(['*']);
const patternLengthMax = 1024;

/** Null: it is no pattern of that syntax, or one that cannot match anything. */
export function compilePattern(text: string, syntax: CodeownersSyntax): Pattern | null {
  if (text.length > patternLengthMax) return null;
  return syntax === 'github' ? compileForGitHub(text) : compileForGitLab(text);
}

function compileForGitHub(text: string): Pattern | null {
  if (text.startsWith('!')) return null;
  const parts = text.split('/');
  const isBelowOnly = parts.at(-1) === '' && parts.length > 1;
  if (isBelowOnly) parts.pop();
  const isAnchored = parts.length > 1;
  if (parts[0] === '') parts.shift();
  const names: readonly (PatternSegment | null)[] = parts.map((part) =>
    part === '**' ? part : compileName(part, false),
  );
  if (!areAll(names) || names.length === 0) return null;
  // `docs/*` matches what is directly in the folder; `*` alone matches everything anyway.
  const isFolder = !isBelowOnly && !isAnyName(names.at(-1));
  return {
    names: [...(isAnchored ? [] : anyDepth), ...names, ...(isBelowOnly ? anyDepth : [])],
    isFolder,
  };
}

function compileForGitLab(text: string): Pattern | null {
  const parts = text.split('/');
  const isAnchored = parts[0] === '' && parts.length > 1;
  if (isAnchored) parts.shift();
  const isBelowOnly = parts.at(-1) === '' && parts.length > (isAnchored ? 0 : 1);
  if (isBelowOnly) parts.pop();
  // `**` at the end is an ordinary `*`: only before a slash does it stand for folders.
  const names: readonly (PatternSegment | null)[] = parts.map((part, at) =>
    part === '**' && (isBelowOnly || at < parts.length - 1) ? part : compileName(part, true),
  );
  if (!areAll(names) || (names.length === 0 && !isBelowOnly)) return null;
  return {
    names: [...(isAnchored ? [] : anyDepth), ...names, ...(isBelowOnly ? [...anyDepth, anyName] : [])],
    isFolder: false,
  };
}

const areAll = (names: readonly (PatternSegment | null)[]): names is readonly PatternSegment[] =>
  !names.includes(null);
const isAnyName = (name: PatternSegment | undefined): boolean =>
  typeof name === 'object' && 'pieces' in name && name.pieces.length === 1 && name.pieces[0] === '*';

/** Null: it ends in the middle of an escape or a set, or holds a set where the syntax has none. */
function compileName(text: string, hasSets: boolean): Name | null {
  const pieces: Piece[] = [];
  const points = Array.from(text);
  for (let at = 0; at < points.length; at++) {
    const point = points[at] ?? '';
    if (point === '*') {
      if (pieces.at(-1) !== '*') pieces.push('*');
    } else if (point === '?') pieces.push('?');
    else if (point === '\\') {
      at++;
      if (at === points.length) return null;
      pieces.push(firstCodePoint(points[at]));
    } else if (point === '[' && hasSets) {
      const found = readSet(points, at + 1);
      if (found === null) return null;
      pieces.push(found.set);
      at = found.end;
    } else if ((point === '[' || point === ']') && !hasSets) return null;
    else pieces.push(firstCodePoint(point));
  }
  if (pieces.length === 0) return null;
  return pieces.every((piece) => typeof piece === 'number')
    ? { text: String.fromCodePoint(...pieces) }
    : compilePieces(pieces);
}

function compilePieces(pieces: readonly Piece[]): Pieces {
  const isSpecial = (piece: Piece) => typeof piece !== 'number';
  const literalText = (part: readonly Piece[]) =>
    String.fromCodePoint(...part.filter((piece) => typeof piece === 'number'));
  const first = pieces.findIndex(isSpecial);
  const last = pieces.findLastIndex(isSpecial);
  return { pieces, head: literalText(pieces.slice(0, first)), tail: literalText(pieces.slice(last + 1)) };
}

const firstCodePoint = (point: string | undefined): number => point?.codePointAt(0) ?? 0;

/** Reads a set, from after its opening bracket to its closing one. */
function readSet(points: readonly string[], start: number): { set: Piece; end: number } | null {
  const isNegated = points[start] === '!' || points[start] === '^';
  const ranges: (readonly [number, number])[] = [];
  let at = isNegated ? start + 1 : start;
  const next = (): number => {
    if (points[at] === '\\') at++;
    return firstCodePoint(points[at++]);
  };
  while (at < points.length && points[at] !== ']') {
    const from = next();
    if (points[at] !== '-' || at + 1 >= points.length || points[at + 1] === ']') ranges.push([from, from]);
    else {
      at++;
      ranges.push([from, next()]);
    }
  }
  return at < points.length && ranges.length > 0 ? { set: { isNegated, ranges }, end: at } : null;
}

/** Whether the pattern matches the path, both from their segment `skipped` on. */
export function matches(
  pattern: Pattern,
  path: readonly string[],
  skipped: number,
  budget: MatchBudget,
): boolean {
  const { names, isFolder } = pattern;
  let name = skipped;
  let at = skipped;
  let wildcard = -1;
  let taken = skipped;
  for (;;) {
    budget.steps--;
    const expected = names[name];
    if (expected === undefined) {
      if (at === path.length || isFolder) return true;
    } else if (expected === '**') {
      if (name === names.length - 1) return at < path.length;
      wildcard = name++;
      taken = at;
      continue;
    } else if (at < path.length && matchesName(expected, path[at] ?? '', budget)) {
      name++;
      at++;
      continue;
    }
    if (wildcard < 0 || taken >= path.length || budget.steps < 0) return false;
    taken++;
    at = taken;
    name = wildcard + 1;
  }
}

function matchesName(name: Name, text: string, budget: MatchBudget): boolean {
  if ('text' in name) return name.text === text;
  const { pieces, head, tail } = name;
  if (!text.startsWith(head) || !text.endsWith(tail)) return false;
  let piece = 0;
  let at = 0;
  let wildcard = -1;
  let taken = 0;
  while (at < text.length || piece < pieces.length) {
    budget.steps--;
    const expected = pieces[piece];
    if (expected === '*') {
      wildcard = piece++;
      taken = at;
      continue;
    }
    if (at < text.length && expected !== undefined && matchesPoint(expected, text.codePointAt(at) ?? 0)) {
      piece++;
      at = after(text, at);
      continue;
    }
    if (wildcard < 0 || taken >= text.length || budget.steps < 0) return false;
    taken = after(text, taken);
    at = taken;
    piece = wildcard + 1;
  }
  return true;
}

/** The index after the character at `at`; some characters take two. */
const after = (text: string, at: number): number => at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

function matchesPoint(piece: Exclude<Piece, '*'>, point: number): boolean {
  if (typeof piece === 'number') return piece === point;
  if (piece === '?') return true;
  return piece.ranges.some(([from, to]) => from <= point && point <= to) !== piece.isNegated;
}

/** The names a path must begin with, as far as they are plain texts, at most `max`. */
export function plainPrefix(pattern: Pattern, max: number): readonly string[] {
  const prefix: string[] = [];
  for (const name of pattern.names) {
    if (name === '**' || !('text' in name) || prefix.length === max) break;
    prefix.push(name.text);
  }
  return prefix;
}
