// Numbers on the command line of a benchmark.

type Texts<Name extends string> = { readonly [name in Name]: string };

export function positive<Name extends string>(values: Texts<Name>, name: Name): number {
  const value = Number(values[name]);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0.`);
  return value;
}

export function positiveWhole<Name extends string>(values: Texts<Name>, name: Name): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1.`);
  return value;
}
