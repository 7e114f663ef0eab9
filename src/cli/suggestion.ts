// "Did you mean …?" for what is none of the words that are known.

import { type Argument, InvalidArgumentError, type Option } from 'commander';

/** How many letters are added, left out, changed or swapped between the two. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const isSame = one[row - 1] === other[at - 1];
      let least = Math.min(last[at]! + 1, next[at - 1]! + 1, last[at - 1]! + (isSame ? 0 : 1));
      if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1])
        least = Math.min(least, before[at - 2]! + 1);
      next.push(least);
    }
    before = last;
    last = next;
  }
  return last[other.length]!;
}

/** The word that was most likely meant; null: none is near. */
function nearest(typed: string, words: readonly string[]): string | null {
  const wanted = typed.toLowerCase().slice(0, 64);
  const [best] = words
    .map((word) => ({ word, far: distance(wanted, word.toLowerCase()) }))
    .filter(({ word, far }) => far <= Math.max(1, Math.floor(word.length * 0.4)))
    .toSorted((one, other) => one.far - other.far);
  if (best !== undefined) return best.word;
  const begins = words.filter((word) => wanted.length > 2 && word.toLowerCase().startsWith(wanted));
  return begins.length === 1 ? begins[0]! : null;
}

/** A sentence to hang on an error, or nothing. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const word = nearest(typed, words);
  return word === null ? '' : ` Did you mean ${word}?`;
}

/** One of the words, in any case of letters. */
export function oneOf<Part extends Argument | Option>(part: Part, words: readonly string[]): Part {
  // The words stay known to help and completions; what is none of them gets a suggestion.
  part.choices(words).argParser((typed: string) => {
    const word = words.find((one) => one.toLowerCase() === typed.toLowerCase());
    if (word !== undefined) return word;
    throw new InvalidArgumentError(`It can be ${words.join(', ')}.${didYouMean(typed, words)}`);
  });
  return part;
}
