// "Did you mean …?" for a mistyped name.

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

/** The choice that was most likely meant; null: none is similar. */
function nearest(typed: string, choices: readonly string[]): string | null {
  const wanted = typed.toLowerCase().slice(0, 64);
  const [best] = choices
    .map((choice) => ({ choice, far: distance(wanted, choice.toLowerCase()) }))
    .filter(({ choice, far }) => far <= Math.max(1, Math.floor(choice.length * 0.4)))
    .toSorted((one, other) => one.far - other.far);
  if (best !== undefined) return best.choice;
  const begins = choices.filter((choice) => wanted.length > 2 && choice.toLowerCase().startsWith(wanted));
  return begins.length === 1 ? begins[0]! : null;
}

/** A sentence to append to an error; empty if no choice is similar. */
export function didYouMean(typed: string, choices: readonly string[]): string {
  const choice = nearest(typed, choices);
  return choice === null ? '' : ` Did you mean ${choice}?`;
}

/** Accepts one of the choices, in upper or lower case. */
export function restrictToChoices<Part extends Argument | Option>(
  part: Part,
  choices: readonly string[],
): Part {
  // Help and completions still list the choices; any other text gets a suggestion.
  part.choices(choices).argParser((typed: string) => {
    const choice = choices.find((one) => one.toLowerCase() === typed.toLowerCase());
    if (choice !== undefined) return choice;
    throw new InvalidArgumentError(`Use ${choices.join(', ')}.${didYouMean(typed, choices)}`);
  });
  return part;
}
