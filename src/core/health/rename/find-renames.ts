// Which tests were renamed between two commits? The input is what one CI job ran on the default branch: `gone` are the
// tests that ran before and do not any more, `fresh` those that ran for the first time. A wrong answer would give a new test
// the history of another one, so in doubt the answer is that nothing was renamed.
//
// A test has a place (file, class, suite, the blocks around it) and a name. There are two kinds of rename:
//
//   moved     The names stay, and the place changes. All tests of the place are gone, all tests of the new place are fresh, and
//             their names are the same, one to one. The last part of the place stays the same, or is similar.
//   renamed   The place stays, and one name changes to a similar one. Nothing else is gone or fresh in this place, or one
//             change of wording explains all of it.
//
// Example of moved. `unit/cart.test.ts` with three tests is gone, `checkout/cart.test.ts` with the same three is fresh.
// Example of renamed. In `cart.test.ts`, `adds two items` is gone and `adds two equal items` is fresh.
//
// Not a rename:
//
//   - A test is removed and another one is added: their names are not similar.
//   - A parameter changes: `parses [1.9]` is gone, `parses [2.0]` is fresh.
//   - A file is split in two: neither part has all of its tests.
//   - Two places have the same names, and one place is gone: both could be it. If several places moved in the same way (a
//     folder was renamed), the way that explains most of them decides.
//   - A place that says little, such as `index.test.ts` with the test `renders`, is gone in one folder and fresh in another.

import { isSimilarName, splitTerms } from './similar-name.ts';

/** Places with a longer name, file or class are not compared; texts may be cut behind that. */
export const placeLengthMax = 500;

export type PlacedTest = {
  readonly ordinal: number;
  readonly name: string;
  readonly file: string;
  readonly classname: string;
  readonly parent: string;
  readonly variant: string;
};

export type FoundRename = {
  readonly kind: 'moved' | 'renamed';
  readonly former: number;
  readonly test: number;
};

/** Tests of a place that are gone, or fresh. */
type PlaceGroup = {
  readonly key: string;
  /** File, class, suite and the blocks in the name. */
  readonly fields: readonly string[];
  readonly byLeaf: ReadonlyMap<string, PlacedTest>;
  /** The names in it. */
  readonly signature: string;
};

/** Places that are compared with each other. With more, nothing is found. */
const comparisonsMax = 10_000;
/** A comparison of two names costs as much as so many of places. */
const nameCost = 5;

type Budget = { comparisons: number };

/** `others`: all other tests in the places of `gone` and `fresh`. */
export function findRenames(
  gone: readonly PlacedTest[],
  fresh: readonly PlacedTest[],
  others: readonly PlacedTest[],
): readonly FoundRename[] {
  const [goneGroups, freshGroups] = [groupByPlace(gone), groupByPlace(fresh)];
  const remaining = groupByPlace(others);
  const budget: Budget = { comparisons: comparisonsMax };
  const isOnlyIn = (other: ReadonlyMap<string, PlaceGroup>) => (place: PlaceGroup) =>
    isShort(place) && !other.has(place.key) && !remaining.has(place.key);
  const moved = findMoves(
    [...goneGroups.values()].filter(isOnlyIn(freshGroups)),
    [...freshGroups.values()].filter(isOnlyIn(goneGroups)),
    budget,
  );
  const renamed = [...goneGroups].flatMap(([key, group]) => {
    const counterpart = freshGroups.get(key);
    const isComparable = counterpart !== undefined && isShort(group) && isShort(counterpart);
    return isComparable ? findNewWordings(group, counterpart, budget) : [];
  });
  return budget.comparisons < 0 ? [] : [...moved, ...renamed];
}

/** What runners write between a block and what it contains. */
const blockEnd = / > | › |::/u;

function splitName(name: string): { readonly blocks: string; readonly leaf: string } {
  const parts = name.split(blockEnd);
  const leaf = parts.at(-1)!;
  return { blocks: name.slice(0, name.length - leaf.length), leaf };
}

function groupByPlace(tests: readonly PlacedTest[]): ReadonlyMap<string, PlaceGroup> {
  const found = new Map<string, { fields: readonly string[]; byLeaf: Map<string, PlacedTest> }>();
  for (const test of tests) {
    const { blocks, leaf } = splitName(test.name);
    const fields = [test.file, test.classname, test.parent, blocks];
    const key = JSON.stringify([...fields, test.variant]);
    const group = found.get(key) ?? { fields, byLeaf: new Map<string, PlacedTest>() };
    group.byLeaf.set(leaf, test);
    found.set(key, group);
  }
  return new Map(
    [...found].map(([key, { fields, byLeaf }]) => {
      const { variant } = [...byLeaf.values()][0]!;
      const signature = JSON.stringify([variant, [...byLeaf.keys()].toSorted()]);
      return [key, { key, fields, byLeaf, signature }];
    }),
  );
}

const isShort = ({ fields, byLeaf }: PlaceGroup): boolean =>
  [...fields, ...[...byLeaf.values()].map(({ name }) => name)].every(
    ({ length }) => length <= placeLengthMax,
  );

type PlaceMove = { readonly from: PlaceGroup; readonly to: PlaceGroup; readonly rewrite: string };

function findMoves(
  gone: readonly PlaceGroup[],
  fresh: readonly PlaceGroup[],
  budget: Budget,
): readonly FoundRename[] {
  const freshBySignature = Map.groupBy(fresh, ({ signature }) => signature);
  const moves: PlaceMove[] = [];
  for (const [signature, places] of Map.groupBy(gone, (place) => place.signature)) {
    const targets = freshBySignature.get(signature) ?? [];
    budget.comparisons -= places.length * targets.length;
    if (budget.comparisons < 0) return [];
    for (const from of places)
      for (const to of targets) {
        const rewrite = rewriteOfPlace(from, to);
        if (rewrite !== null) moves.push({ from, to, rewrite });
      }
  }
  const often = new Map<string, number>();
  for (const { rewrite } of moves) often.set(rewrite, (often.get(rewrite) ?? 0) + 1);
  const rivals = Map.groupBy(
    moves.flatMap((move) => [
      { place: move.from, move },
      { place: move.to, move },
    ]),
    ({ place }) => place,
  );
  return moves
    .filter((move) => {
      const count = often.get(move.rewrite)!;
      const isUnrivalled = [move.from, move.to].every((place) =>
        rivals.get(place)!.every((rival) => rival.move === move || often.get(rival.move.rewrite)! < count),
      );
      return isUnrivalled && (count > 1 || saysEnough(move));
    })
    .flatMap(({ from, to }) =>
      [...from.byLeaf].map(([leaf, { ordinal }]) => ({
        kind: 'moved' as const,
        former: ordinal,
        test: to.byLeaf.get(leaf)!.ordinal,
      })),
    );
}

const partEnd = /[/\\]/u;

/** The parts of a path, of a class with its package, or of blocks. */
const splitParts = (field: string): readonly string[] => {
  const parts = partEnd.test(field)
    ? field.split(partEnd)
    : blockEnd.test(field)
      ? field.split(blockEnd)
      : /\s/u.test(field)
        ? [field]
        : field.split('.');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
};

/** Names of files that are named like many others: they count with their folder. */
const generic = new Set(['app', 'index', 'init', 'lib', 'main', 'mod', 'module', 'spec', 'test', 'tests']);

/** A file without its extensions. */
const stemOf = (part: string): string => part.split('.').find((piece) => piece !== '') ?? '';

/** The last part of a field, with the one before it if it says nothing. */
function lastPart(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  const isGeneric = stemOf(last)
    .toLowerCase()
    .split(/[^a-z0-9]+/u)
    .every((term) => term === '' || generic.has(term));
  return isGeneric ? parts.slice(-2).join('/') : last;
}

/** How the one place became the other, as a text; null: it did not. */
function rewriteOfPlace(from: PlaceGroup, to: PlaceGroup): string | null {
  const rewrites: string[] = [];
  let isSameSomewhere = false;
  for (const [index, before] of from.fields.entries()) {
    const after = to.fields[index]!;
    if (before === after) {
      if (before !== '') isSameSomewhere = true;
      continue;
    }
    // A reporter names more, or less, than before.
    if (before === '' || after === '') {
      rewrites.push(`${index} ${before === '' ? 'added' : 'left out'}`);
      continue;
    }
    const [partsBefore, partsAfter] = [splitParts(before), splitParts(after)];
    const [lastBefore, lastAfter] = [lastPart(partsBefore), lastPart(partsAfter)];
    if (lastBefore !== lastAfter) {
      const isRewording = partsBefore.slice(0, -1).join('/') === partsAfter.slice(0, -1).join('/');
      const isSimilar = isSimilarName(stemOf(lastBefore), stemOf(lastAfter));
      if (!isRewording || from.byLeaf.size < 2 || !isSimilar) return null;
    }
    isSameSomewhere = true;
    rewrites.push(`${index} ${describeRewrite(partsBefore, partsAfter)}`);
  }
  return isSameSomewhere ? rewrites.join('\n') : null;
}

/** How many parts at the start and at the end are the same in both. */
function countCommonEnds(
  before: readonly string[],
  after: readonly string[],
): { readonly start: number; readonly end: number } {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before.at(-1 - end) === after.at(-1 - end)
  )
    end++;
  return { start, end };
}

/** The parts that were replaced, and by which. */
function describeRewrite(before: readonly string[], after: readonly string[]): string {
  const { start, end } = countCommonEnds(before, after);
  const middle = (parts: readonly string[]) => parts.slice(start, parts.length - end).join('/');
  return JSON.stringify([middle(before), middle(after)]);
}

/** Different words in names and last parts, so that two places do not have them in common by chance. */
const termsMin = 3;

function saysEnough({ from, to }: PlaceMove): boolean {
  const kept = from.fields.flatMap((field, index) => {
    const last = lastPart(splitParts(field));
    const isKept = last === lastPart(splitParts(to.fields[index]!));
    return isKept ? splitTerms(last.split('/').map(stemOf).join(' ')) : [];
  });
  const names = [...from.byLeaf.keys()].flatMap((leaf) => splitTerms(leaf));
  return new Set([...kept, ...names].filter((term) => !generic.has(term))).size >= termsMin;
}

/** A name without its parameters, and the parameters: `parses [2.0]` is `parses ` and `[2.0]`. */
function splitParameters(leaf: string): { readonly base: string; readonly parameters: string } {
  const at = leaf.search(/[([]/u);
  return at <= 0 ? { base: leaf, parameters: '' } : { base: leaf.slice(0, at), parameters: leaf.slice(at) };
}

/** Names of one place that one change of wording may explain. */
const wordingsMax = 100;

function findNewWordings(gone: PlaceGroup, fresh: PlaceGroup, budget: Budget): readonly FoundRename[] {
  const [before, after] = [[...gone.byLeaf.keys()], [...fresh.byLeaf.keys()]];
  if (before.length !== after.length || before.length > wordingsMax || budget.comparisons < 0) return [];
  const explanations = after.flatMap((leaf) => {
    const pairs = explain(before, new Set(after), [before[0]!, leaf], budget);
    return pairs === null ? [] : [pairs];
  });
  const [only, ...rest] = explanations;
  if (only === undefined || rest.length > 0) return [];
  return only.map(([one, other]) => ({
    kind: 'renamed',
    former: gone.byLeaf.get(one)!.ordinal,
    test: fresh.byLeaf.get(other)!.ordinal,
  }));
}

type Wording = readonly [before: string, after: string];

/** All pairs, if the change of the first pair turns every name into one of `after`; null: it does not. */
function explain(
  before: readonly string[],
  after: ReadonlySet<string>,
  [one, other]: Wording,
  budget: Budget,
): readonly Wording[] | null {
  const change = changeOf(one, other);
  const taken = new Set<string>();
  const pairs: Wording[] = [];
  for (const name of before) {
    const renamed = name === one ? other : change(name);
    if (renamed === null || !after.has(renamed) || taken.has(renamed)) return null;
    budget.comparisons -= nameCost;
    if (budget.comparisons < 0) return null;
    const [a, b] = [splitParameters(name), splitParameters(renamed)];
    if (a.parameters !== b.parameters || !isSimilarName(a.base, b.base)) return null;
    taken.add(renamed);
    pairs.push([name, renamed]);
  }
  return pairs;
}

/** The change as a function: whole words are replaced, which must occur once in a name. */
function changeOf(one: string, other: string): (name: string) => string | null {
  const [before, after] = [one.split(/\b/u), other.split(/\b/u)];
  const { start, end } = countCommonEnds(before, after);
  const removed = before.slice(start, before.length - end).join('');
  const added = after.slice(start, after.length - end).join('');
  const [head, tail] = [before.slice(0, start).join(''), end === 0 ? '' : before.slice(-end).join('')];
  return (name) => {
    if (removed !== '') {
      const pieces = name.split(removed);
      return pieces.length === 2 ? pieces.join(added) : null;
    }
    if (head !== '' && name.startsWith(head)) return `${head}${added}${name.slice(head.length)}`;
    if (tail !== '' && name.endsWith(tail))
      return `${name.slice(0, name.length - tail.length)}${added}${tail}`;
    return head === '' ? `${added}${name}` : null;
  };
}
