// Words that the sentences of several monitors share.

import type { BranchClass } from '../branch.ts';

export const timesText = (count: number): string => (count === 1 ? 'once' : `${count} times`);

export const daysText = (days: number): string => (days === 1 ? 'a day' : `${days} days`);

export const shortSource = (source: string): string =>
  /^[0-9a-f]{40,64}$/u.test(source) ? source.slice(0, 7) : source;

export const instantText = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Two significant digits: 0.17 %, 2 %, 85 %. */
export function percentText(share: number): string {
  const value = share * 100;
  return `${value === 0 || value >= 10 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}

/** One digit after the point, as settings are set: 12.5 %. */
export const thresholdText = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

export const branchesText = (branches: readonly BranchClass[]): string =>
  branches.length === 1 && branches[0] === 'default'
    ? 'the default branch'
    : branches.length === 4
      ? 'all branches'
      : `${branches.join(', ')} branches`;
