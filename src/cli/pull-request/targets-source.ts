// Reads impacted targets from the output of build tools. Output that cannot be parsed is refused: if a target
// is left out, two changes may land that were never tested together.

import type { TargetRules } from '#config/repository-file.ts';
import { pathGlob } from '#config/path-glob.ts';
import { CliError } from '../exit-codes.ts';
import { plainLine } from '../terminal/plain-text.ts';

export type ImpactedTargetList = 'ALL' | readonly string[];

const targetsMax = 200_000;
const targetLengthMax = 1024;

/** Each once, in order. */
export function checkedTargets(found: ImpactedTargetList): ImpactedTargetList {
  if (found === 'ALL') return found;
  const targets = [...new Set(found)].toSorted();
  if (targets.length > targetsMax)
    throw new CliError(
      `There are ${targets.length} targets, more than the limit of ${targetsMax}. Use --all.`,
    );
  const long = targets.find((target) => target.length > targetLengthMax);
  if (long !== undefined)
    throw new CliError(
      `The target ${plainLine(long, 80)} is longer than ${targetLengthMax} characters. Use a shorter name.`,
    );
  return targets;
}

const splitLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** One on each line; `#` begins a comment. */
export const listedTargets = (text: string): readonly string[] =>
  splitLines(text).filter((line) => !line.startsWith('#'));

const label = /^@{0,2}[\w.~+-]*\/\/[^\s]*$/;
const logLine = /^(?:INFO|WARNING|DEBUG|Loading|Analyzing|Starting|Computing|\[\d)/;

/** Labels, as `bazel query`, bazel-diff and target-determinator print them, also with the kind before each. */
export function bazelTargets(text: string): readonly string[] {
  return splitLines(text).flatMap((line) => {
    const last = line.split(/\s+/).at(-1) ?? '';
    const isKind =
      /^[\w-]+ (?:rule|file|group) \S+$|^(?:source|generated) file \S+$|^package group \S+$/.test(line);
    if (label.test(line) || (isKind && label.test(last))) return [last];
    if (logLine.test(line)) return [];
    throw new CliError(
      `${plainLine(line, 100)} is not a Bazel label. Use labels like //cart:lib, one on each line.`,
    );
  });
}

function parseCommandJson(text: string, command: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`The file is not the JSON output of ${command}.`);
  }
}

function expectStringArray(value: unknown, command: string): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''))
    return value as string[];
  throw new CliError(`The file is not the JSON output of ${command}.`);
}

/** `nx show projects --affected --json`: a list of names. */
export function nxTargets(text: string): readonly string[] {
  const command = 'nx show projects --affected --json';
  return expectStringArray(parseCommandJson(text, command), command);
}

/** `turbo run … --affected --dry=json`: the packages in scope. */
export function turboTargets(text: string): readonly string[] {
  const command = 'turbo run … --affected --dry=json';
  // A line with the version may precede the JSON.
  const content = parseCommandJson(text.slice(Math.max(0, text.indexOf('{'))), command);
  return expectStringArray((content as { readonly packages?: unknown } | null)?.packages, command);
}

/** The targets that changed files belong to. The impact of a file that belongs to no target is unknown. */
export function targetsOfFiles(files: readonly string[], { targets, unmatchedFiles }: TargetRules) {
  const rules = Object.entries(targets).map(([name, patterns]) => ({ name, globs: patterns.map(pathGlob) }));
  const found = new Set<string>();
  const unmatched: string[] = [];
  for (const file of files) {
    const matching = rules.filter(({ globs }) => globs.some((isMatch) => isMatch(file)));
    for (const { name } of matching) found.add(name);
    if (matching.length === 0) unmatched.push(file);
  }
  const isAll = unmatched.length > 0 && unmatchedFiles === 'all';
  const impacted: ImpactedTargetList = isAll ? 'ALL' : [...found];
  return { impacted, unmatched };
}
