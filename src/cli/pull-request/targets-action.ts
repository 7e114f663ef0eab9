// Performs `signalbox targets upload`: finds the targets, and sends them for the head that they belong to.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { countText } from '#base/number-text.ts';
import { detectCiEnvironment } from '#config/ci.ts';
import { repositoryFileName, targetRulesIn, type TargetRules } from '#config/repository-file.ts';
import { git } from '../client/checkout.ts';
import { readEvent } from '../client/ci-event.ts';
import { openApi } from '../client/connection.ts';
import { findPullRequest } from '../client/pull-request-place.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import {
  bazelTargets,
  checkedTargets,
  listedTargets,
  nxTargets,
  type ImpactedTargetList,
  targetsOfFiles,
  turboTargets,
} from './targets-source.ts';

type TargetsOptions = {
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
  const targetsOptions = given.options as TargetsOptions;
  const api = await openApi(context, given.options);
  const place = await findPullRequest(context, api, given);
  const impactedTargets = checkedTargets(await findTargets(context.cwd, targetsOptions, place.targetBranch));
  if (impactedTargets.length === 0 && targetsOptions.allowEmpty !== true)
    throw new CliError(
      'The list of impacted targets is empty. If that is correct, add --allow-empty; otherwise check the tool that made the list.',
    );
  const sha = await resolveHeadSha(context, targetsOptions);
  const pr = { ...place.pr, ...(sha === null ? {} : { sha }) };
  const request = { ...place, pr, impactedTargets };
  const answer = targetsOptions.dryRun === true ? request : await api.call('setImpactedTargets', request);
  if (targetsOptions.json === true) printJson(answer);
  else printLines(sentLines(place.pr.number, impactedTargets, targetsOptions.dryRun === true));
  return 0;
}

function sentLines(number: number, targets: ImpactedTargetList, isDry: boolean): readonly string[] {
  const what = targets === 'ALL' ? 'all targets' : countText(targets.length, 'target');
  if (!isDry) return [`#${number} impacts ${what}.`];
  const shown = targets === 'ALL' ? [] : targets.slice(0, 100).map((target) => `  ${plainLine(target)}`);
  return [`#${number} would impact ${what}.`, ...shown];
}

async function findTargets(
  cwd: string,
  targetsOptions: TargetsOptions,
  branch: string,
): Promise<ImpactedTargetList> {
  const { all, from, bazel, nx, turbo } = targetsOptions;
  if (all === true) return 'ALL';
  if (from !== undefined) return listedTargets(textIn(cwd, from));
  if (bazel !== undefined) return bazelTargets(textIn(cwd, bazel));
  if (nx !== undefined) return nxTargets(textIn(cwd, nx));
  if (turbo !== undefined) return turboTargets(textIn(cwd, turbo));
  return targetsOfCheckout(cwd, targetsOptions.base ?? `origin/${branch}`);
}

async function targetsOfCheckout(cwd: string, base: string): Promise<ImpactedTargetList> {
  const root = await git(cwd, 'rev-parse', '--show-toplevel');
  if (root === null)
    throw new CliError(
      'This folder is not a git checkout. Use --from, --bazel, --nx, --turbo or --all.',
      'usage',
    );
  const rules = rulesIn(root);
  const mergeBase = await git(cwd, 'merge-base', base, 'HEAD');
  if (mergeBase === null)
    throw new CliError(
      `The merge base of ${base} and HEAD is not in this checkout. Fetch the whole history (in CI: fetch-depth 0), or use --base.`,
    );
  const changed = (await git(root, 'diff', '--name-only', '--no-renames', '-z', mergeBase, 'HEAD')) ?? '';
  const files = changed.split('\0').filter((file) => file !== '');
  const { impacted, unmatched } = targetsOfFiles(files, rules);
  if (impacted === 'ALL') {
    const [first = ''] = unmatched;
    console.error(
      `${countText(unmatched.length, 'changed file')} in no target, for example ${plainLine(first, 100)}: the pull request impacts all targets.`,
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
      `There is no ${repositoryFileName} here. Use --from, --bazel, --nx, --turbo or --all.`,
      'usage',
    );
  }
  const rules = targetRulesIn(text);
  switch (rules.kind) {
    case 'said':
      return rules.value;
    case 'unsaid':
      throw new CliError(
        `${repositoryFileName} has no targets. Add them, or use --from, --bazel, --nx, --turbo or --all.`,
        'usage',
      );
    case 'no-yaml':
      throw new CliError(`${repositoryFileName} is not valid YAML. Fix it, then try again.`);
    case 'invalid':
      throw new CliError(`${repositoryFileName}: ${rules.why}.`);
  }
}

/** Null: the current head at the Git host. */
async function resolveHeadSha(
  { env, cwd }: CliContext,
  targetsOptions: TargetsOptions,
): Promise<string | null> {
  if (targetsOptions.sha !== undefined) return targetsOptions.sha;
  const ciEnvironment = detectCiEnvironment(env, readEvent(env));
  if (ciEnvironment.provider !== null) return ciEnvironment.sha;
  const { all, from, bazel, nx, turbo } = targetsOptions;
  // Given targets may belong to any head; those of the checkout belong to its HEAD.
  const isHandedIn = all === true || (from ?? bazel ?? nx ?? turbo) !== undefined;
  return isHandedIn ? null : git(cwd, 'rev-parse', 'HEAD');
}
