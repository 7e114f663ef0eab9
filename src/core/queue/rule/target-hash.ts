// A target's name as a number that a double holds exactly, so that a set of targets is a sorted list of numbers and
// whether two sets share one is a merge of two lists.
//
// 52 bits from two lanes of 32: every character is mixed into both with different multipliers, and each lane is
// finished with the other, so that names that differ in one place differ in about half of the bits. Two names that
// hash alike (for a repository of 100,000 targets about once in a million repositories) only make two pull requests
// wait for each other that need not have: never the reverse.

export function hashTarget(name: string): number {
  let high = 0x6a09e667 ^ name.length;
  let low = 0xbb67ae85 ^ name.length;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x85ebca77);
    // A multiplication alone carries only upwards: the fold brings the upper bits back down.
    high ^= high >>> 15;
    low ^= low >>> 13;
  }
  high = Math.imul(high ^ (low >>> 16), 0xc2b2ae3d);
  low = Math.imul(low ^ (high >>> 13), 0x27d4eb2f);
  high ^= low >>> 14;
  low ^= high >>> 17;
  return (high >>> 0) * 0x100000 + (low >>> 12);
}
