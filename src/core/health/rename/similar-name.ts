// Whether two names are probably two wordings of one name. It answers no if in doubt:
//
//   adds two numbers     → adds two positive numbers    yes: three of four words are the same
//   retruns null         → returns null                 yes: one letter
//   addsTwoNumbers       → adds two numbers             yes: the same words
//   returns 404          → returns 403                  no: a parameter
//   accepts valid input  → accepts invalid input        no: the opposite
//   test_login           → test_logout                  no: another test

/** More than this share of the words of the longer name is the same. */
const sameShare = 2 / 3;
/** Letters that may differ in a name of at least so many letters. */
const typoMax = 2;
const typoLengthMin = 10;
/** Longer names are compared by their words alone. */
const lettersMax = 100;
/** Names with more words are not compared: they are texts. */
const termsMax = 64;

/** Words that name nothing. */
const fillers = new Set(['a', 'an', 'it', 'should', 'spec', 'test', 'tests', 'that', 'the']);
const negations = ['cannot', 'never', 'no', 'not', 'without'];
const negatingStarts = ['dis', 'im', 'in', 'ir', 'non', 'un'];

export const splitTerms = (name: string): readonly string[] =>
  name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((term) => term !== '' && !fillers.has(term));

export function isSimilarName(before: string, after: string): boolean {
  const [a, b] = [splitTerms(before), splitTerms(after)];
  const [textA, textB] = [a.join(' '), b.join(' ')];
  const lengths = [a.length, b.length];
  if (Math.min(...lengths) === 0 || Math.max(...lengths) > termsMax) return false;
  if (textA === textB) return true;
  if (maskDigits(textA) === maskDigits(textB) || isOpposite(a, b)) return false;
  if (countCommon(a, b) / Math.max(a.length, b.length) > sameShare) return true;
  return (
    a.length === b.length &&
    Math.min(textA.length, textB.length) >= typoLengthMin &&
    Math.max(textA.length, textB.length) <= lettersMax &&
    countEdits(textA, textB) <= typoMax
  );
}

const maskDigits = (text: string): string => text.replaceAll(/\d+/gu, '#');

function isOpposite(a: readonly string[], b: readonly string[]): boolean {
  const negates = (terms: readonly string[]) => negations.filter((term) => terms.includes(term)).join();
  if (negates(a) !== negates(b)) return true;
  const isNegated = (term: string, terms: readonly string[]) =>
    !terms.includes(term) && negatingStarts.some((start) => terms.includes(start + term));
  return a.some((term) => isNegated(term, b)) || b.some((term) => isNegated(term, a));
}

function countCommon(a: readonly string[], b: readonly string[]): number {
  const left = [...b];
  return a.filter((term) => {
    const at = left.indexOf(term);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  }).length;
}

/** Letters to insert, remove, replace, or swap with their neighbour. */
function countEdits(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let edits = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        edits = Math.min(edits, beforeLast[column - 2]! + 1);
      next.push(edits);
    }
    beforeLast = last;
    last = next;
  }
  return last[b.length]!;
}
