// What a predictor says of a change before CI has run. It says "good" or "bad", and is right as often as its kind says; the
// odds that a policy gets are the calibrated ones: of all changes with odds of 0.8, four in five pass.

/** How good the predictor is. */
export type Predictor =
  /** Says of each change, good or bad, with this probability what it is. */
  | { readonly kind: 'accuracy'; readonly accuracy: number }
  /** Knows only how many changes pass. */
  | { readonly kind: 'prior' }
  /** Flags this share of the bad changes, and this share of the good ones. */
  | { readonly kind: 'screen'; readonly recall: number; readonly falseAlarm: number };

/** The probability that a change passes, given what the predictor says of it; `luck` is between 0 and 1. */
export function predictPass(predictor: Predictor, isGood: boolean, pass: number, luck: number): number {
  if (predictor.kind === 'prior') return pass;
  const { recall, falseAlarm } = flagRates(predictor);
  const isFlagged = luck < (isGood ? falseAlarm : recall);
  const seenIfBad = (1 - pass) * (isFlagged ? recall : 1 - recall);
  const seenIfGood = pass * (isFlagged ? falseAlarm : 1 - falseAlarm);
  return seenIfGood / (seenIfGood + seenIfBad);
}

function flagRates(predictor: Exclude<Predictor, { kind: 'prior' }>) {
  if (predictor.kind === 'screen') return predictor;
  return { recall: predictor.accuracy, falseAlarm: 1 - predictor.accuracy };
}
