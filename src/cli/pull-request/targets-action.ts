// What `signalbox targets upload` does: finds the targets, and sends them for the head that they are of.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ciEnvironmentOf } from '#config/ci.ts';
import { repositoryFileName, targetRulesIn, type TargetRules } from '#config/repository-file.ts';
import { git } from '../client/checkout.ts';
import { readEvent } from '../client/ci-event.ts';
import { openApi } from '../client/connection.ts';
import { findPullRequest } from '../client/pull-request-place.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { countText, printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import {
  bazelTargets,
  checkedTargets,
  listedTargets,
  nxTargets,
  type Targets,
  targetsOfFiles,
  turboTargets,
} from './targets-source.ts';

type Wishes = {
  readonly from?: string;
  readonly bazel?: string;
  readonly nx?: string;
  readonly turbo?: string;
  readonly all?: boolean;
  readonly base?: string;
  readonly sha?: string;
  readonly allowEmpty?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

const fileBytesMax = 64 * 1024 * 1024;

function textIn(cwd: string, file: string): string {
  try {
    if (file === '-') return readFileSync(0, 'utf8');
    const path = join(cwd, file);
    if (statSync(path).size > fileBytesMax) throw new Error('it is larger than 64 MiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`${file} could not be read: ${(error as Error).message}`, 'usage');
  }
}

export async function uploadTargets(context: CliContext, given: Given): Promise<number> {
  const wishes = given.options as Wishes;
  const api = await openApi(context, given.options);
  const place = await findPullRequest(context, api, given);
  const impactedTargets = checkedTargets(await findTargets(context.cwd, wishes, place.targetBranch));
  if (impactedTargets.length === 0 && wishes.allowEmpty !== true)
    throw new CliError(
      'No target is impacted. If that is right, say so with --allow-empty; else look at the tool.',
    );
  const sha = await headOf(context, wishes);
  const pr = { ...place.pr, ...(sha === null ? {} : { sha }) };
  const request = { ...place, pr, impactedTargets };
  const answer = wishes.dryRun === true ? request : await api.call('setImpactedTargets', request);
  if (wishes.json === true) printJson(answer);
  else printLines(sentLines(place.pr.number, impactedTargets, wishes.dryRun === true));
  return 0;
}

function sentLines(number: number, targets: Targets, isDry: boolean): readonly string[] {
  const what = targets === 'ALL' ? 'all targets' : countText(targets.length, 'target');
  if (!isDry) return [`#${number} impacts ${what}.`];
  const shown = targets === 'ALL' ? [] : targets.slice(0, 100).map((target) => `  ${plainLine(target)}`);
  return [`#${number} would impact ${what}.`, ...shown];
}

async function findTargets(cwd: string, wishes: Wishes, branch: string): Promise<Targets> {
  const { all, from, bazel, nx, turbo } = wishes;
  if (all === true) return 'ALL';
  if (from !== undefined) return listedTargets(textIn(cwd, from));
  if (bazel !== undefined) return bazelTargets(textIn(cwd, bazel));
  if (nx !== undefined) return nxTargets(textIn(cwd, nx));
  if (turbo !== undefined) return turboTargets(textIn(cwd, turbo));
  return targetsOfCheckout(cwd, wishes.base ?? `origin/${branch}`);
}

async function targetsOfCheckout(cwd: string, base: string): Promise<Targets> {
  const root = await git(cwd, 'rev-parse', '--show-toplevel');
  if (root === null)
    throw new CliError('This is no git checkout: give --from, --bazel, --nx, --turbo or --all.', 'usage');
  const rules = rulesIn(root);
  const mergeBase = await git(cwd, 'merge-base', base, 'HEAD');
  if (mergeBase === null)
    throw new CliError(
      `The merge base of ${base} and HEAD is not known here. Fetch the whole history (in CI: fetch-depth 0), or give --base.`,
    );
  const changed = (await git(root, 'diff', '--name-only', '--no-renames', '-z', mergeBase, 'HEAD')) ?? '';
  const files = changed.split('\0').filter((file) => file !== '');
  const { impacted, unmatched } = targetsOfFiles(files, rules);
  if (impacted === 'ALL') {
    const [first = ''] = unmatched;
    console.error(
      `${countText(unmatched.length, 'changed file')} in no target, such as ${plainLine(first, 100)}: all are impacted.`,
    );
  }
  return impacted;
}

function rulesIn(root: string): TargetRules {
  let text;
  try {
    text = readFileSync(join(root, repositoryFileName), 'utf8');
  } catch {
    throw new CliError(
      `There is no ${repositoryFileName} here: give --from, --bazel, --nx, --turbo or --all.`,
      'usage',
    );
  }
  const rules = targetRulesIn(text);
  switch (rules.kind) {
    case 'said':
      return rules.value;
    case 'unsaid':
      throw new CliError(
        `${repositoryFileName} names no targets: give --from, --bazel, --nx, --turbo or --all.`,
        'usage',
      );
    case 'no-yaml':
      throw new CliError(`${repositoryFileName} is no YAML.`);
    case 'invalid':
      throw new CliError(`${repositoryFileName}: ${rules.why}.`);
  }
}

/** Null: the head that the host has now. */
async function headOf({ env, cwd }: CliContext, wishes: Wishes): Promise<string | null> {
  if (wishes.sha !== undefined) return wishes.sha;
  const told = ciEnvironmentOf(env, readEvent(env));
  if (told.provider !== null) return told.sha;
  const { all, from, bazel, nx, turbo } = wishes;
  // What was handed in may be of any head; what the checkout says is of what is checked out.
  const isHandedIn = all === true || (from ?? bazel ?? nx ?? turbo) !== undefined;
  return isHandedIn ? null : git(cwd, 'rev-parse', 'HEAD');
}
