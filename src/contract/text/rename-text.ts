// The former and the present name of a test, in sentences: for dashboard and command line.

import type { TestRename } from '../test-health.ts';

const place = ({ name, file_path: file }: TestRename): string =>
  file === null ? `“${name}”` : `“${name}” (${file})`;

const since = ({ commit, at }: TestRename, formatInstant: (at: string) => string): string =>
  commit === null ? formatInstant(at) : `commit ${commit.slice(0, 7)}, ${formatInstant(at)}`;

/** What is carried over from the former name, and why. */
export function formerNameText(rename: TestRename, formatInstant: (at: string) => string): string {
  const was = `Was ${place(rename)} until ${since(rename, formatInstant)}.`;
  if (!rename.is_carried)
    return `Perhaps ${place(rename)} before ${since(rename, formatInstant)}. Its history is carried over after two further commits.`;
  const who = rename.confirmed_by === null ? 'Found by Signalbox' : `Confirmed by ${rename.confirmed_by}`;
  const what = rename.carries_quarantine
    ? 'its history and its quarantine are carried over'
    : 'its history is carried over, its quarantine is not';
  return `${was} ${who}: ${what}.`;
}

export const presentNameText = (rename: TestRename, formatInstant: (at: string) => string): string =>
  rename.is_carried
    ? `Is ${place(rename)} since ${since(rename, formatInstant)}.`
    : `Perhaps ${place(rename)} since ${since(rename, formatInstant)}.`;
