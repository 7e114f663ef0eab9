// Numbers as sentences have them.

/** `1 test`, `2 tests`. */
export const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A share of 0 to 1 as `12.5 %`. */
export const percentText = (share: number): string => `${(100 * share).toFixed(1)} %`;
