// The options of `signalbox test`, `signalbox upload` and `signalbox split`: read, checked, and merged with the values of CI,
// the checkout and the environment. An option overrides all of those.

import type { Command } from 'commander';
import { withoutTrailing } from '#base/text.ts';
import type { CiEnv, CiEnvironment } from '#config/ci-environment.ts';
import { detectCiEnvironment } from '#config/ci.ts';
import { type ClientSettings, readClientSettings } from '#config/client.ts';
import { repositoryOfText } from '#config/remote-url.ts';
import { readCheckout } from '../client/checkout.ts';
import { readEvent } from '../client/ci-event.ts';
import { tokenIn } from '../client/connection.ts';
import type { Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { parseSpan } from '../parse-span.ts';

/** Collects an option that may be repeated. */
const again = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

/** Adds the options that say where the service is, and what is tested. */
export function withServiceOptions(command: Command): Command {
  return command
    .option('--url <url>', 'URL of Signalbox (default: SIGNALBOX_URL)')
    .option('--token-file <file>', 'file with the token, - for standard input (default: SIGNALBOX_API_TOKEN)')
    .option('--repo <host/owner/name>', 'repository (default: from CI or the git remote)')
    .option('--sha <sha>', 'tested commit (default: from CI or the checkout)')
    .option('--variant <name>', 'keeps results of the same tests apart, for example linux and windows');
}

/** Adds the options of the commands that upload reports. */
export function withCiOptions(command: Command): Command {
  const withReports = command.option(
    '--junit <glob>',
    'report files, as a quoted glob; can be repeated (default: the usual places)',
    again,
  );
  return withServiceOptions(withReports)
    .option('--org <slug>', 'organization slug (default: SIGNALBOX_ORG, or the organization of the token)')
    .option('--branch <name>', 'branch of the commit (default: from CI or the checkout)')
    .option('--pr <number>', 'pull request of the commit (default: from CI)')
    .option('--job <name>', 'name of the CI job, the same in every run of the job (default: from CI)')
    .option('--wait <seconds>', 'seconds to wait for the classification (default: 20)')
    .option(
      '--gitlab-annotations <file>',
      'if tests failed, write links to their pages for the page of a GitLab job (default: not written)',
    )
    .addHelpText('after', defaultsText);
}

/** Adds the options of `signalbox test`. */
export function withExitCodeOptions(command: Command): Command {
  return command
    .option('--failure-code <n,n>', 'exit codes that mean that tests failed (default: 1)', again)
    .option('--missing-tolerance <percent>', 'share of the usual tests that may be missing (default: 1)')
    .option('--all-tests', 'run all tests, even if the queue needs only those that failed')
    .option(
      '--shake-new <mode>',
      'repeat tests that the default branch has never seen: report shows those that are flaky, enforce fails too',
    )
    .option('--budget <share>', 'time for that: a share of the time of the tests, or 30s (default: 10%)');
}

const defaultsText = `
Defaults come from the environment variables of CI (GitHub, Gitea, Forgejo, GitLab, Buildkite, CircleCI, Jenkins,
Azure, Drone, Woodpecker), or from the git checkout.`;

/** The options as commander parses them. */
type CiOptionValues = {
  readonly junit?: readonly string[];
  readonly url?: string;
  readonly tokenFile?: string;
  readonly org?: string;
  readonly repo?: string;
  readonly sha?: string;
  readonly branch?: string;
  readonly pr?: string;
  readonly job?: string;
  readonly variant?: string;
  readonly wait?: string;
  readonly gitlabAnnotations?: string;
  readonly json?: boolean;
  readonly allowFailure?: boolean;
  readonly failureCode?: readonly string[];
  readonly missingTolerance?: string;
  readonly allTests?: boolean;
  readonly shakeNew?: string;
  readonly budget?: string;
};

export type CiOptions = {
  readonly patterns: readonly string[];
  readonly client: ClientSettings;
  readonly place: Partial<Pick<CiEnvironment, 'repository' | 'sha' | 'branch' | 'prNumber' | 'job'>>;
  readonly variant: string;
  readonly waitMs: number;
  /** For links on the page of a GitLab job; null: not written. */
  readonly gitlabFile: string | null;
  readonly isJson: boolean;
  readonly mayFail: boolean;
  readonly failureCodes: readonly number[];
  readonly missingPercentMax: number;
  /** Never ask which tests are enough. */
  readonly isAllTests: boolean;
  /** How new tests are repeated; null: not at all. */
  readonly shake: { readonly mode: 'report' | 'enforce'; readonly budget: ShakeBudget } | null;
};

/** The time for repeats of new tests: a share of the time that the suite took, or a time. */
export type ShakeBudget = { readonly share: number } | { readonly ms: number };

/** Null: not valid. */
function parseBudget(text: string): ShakeBudget | null {
  const [, percent] = /^(\d{1,4}(?:\.\d+)?)\s*%$/.exec(text) ?? [];
  if (percent !== undefined) return Number(percent) > 0 ? { share: Number(percent) / 100 } : null;
  try {
    const ms = parseSpan(text);
    return ms > 0 && /[smh]$/i.test(text) ? { ms } : null;
  } catch {
    return null;
  }
}

/** Parses the options; throws if one of them is not valid. */
export function parseOptions(given: Given['options'], env: CiEnv): CiOptions {
  const values = given as CiOptionValues;
  const repository = values.repo === undefined ? undefined : repositoryOfText(values.repo);
  const codes = (values.failureCode ?? ['1']).flatMap((code) => code.split(','));
  const { shakeNew: mode } = values;
  const isMode = (text: string): text is 'report' | 'enforce' => text === 'report' || text === 'enforce';
  const budget = parseBudget(values.budget ?? '10%');
  const problem = [
    mode !== undefined && !isMode(mode) && `${mode} is not a valid --shake-new. Use report or enforce.`,
    budget === null &&
      `${values.budget} is not a valid --budget. Use a share such as 10%, or a time such as 30s.`,
    values.budget !== undefined && mode === undefined && '--budget needs --shake-new report or enforce.',
    repository === null &&
      `${values.repo} is not a valid --repo. Use host/owner/name, for example github.com/acme/widgets.`,
    values.sha !== undefined &&
      !/^[0-9a-f]{40}([0-9a-f]{24})?$/i.test(values.sha) &&
      `${values.sha} is not a valid --sha. Use the full commit id.`,
    values.pr !== undefined &&
      !/^[1-9]\d{0,9}$/.test(values.pr) &&
      `${values.pr} is not a valid --pr. Use the number of a pull request.`,
    (values.variant?.length ?? 0) > 64 &&
      `The value of --variant has ${values.variant!.length} characters. Use at most 64.`,
    values.wait !== undefined &&
      !/^\d{1,4}$/.test(values.wait) &&
      `${values.wait} is not a valid --wait. Use a number of seconds.`,
    !codes.every((code) => /^\d{1,3}$/.test(code) && Number(code) >= 1 && Number(code) < 128) &&
      `${codes.join(',')} is not a valid --failure-code. Use exit codes from 1 to 127, comma-separated.`,
    values.missingTolerance !== undefined &&
      !(Number(values.missingTolerance) >= 0 && Number(values.missingTolerance) <= 100) &&
      `${values.missingTolerance} is not a valid --missing-tolerance. Use a percentage from 0 to 100.`,
    values.url !== undefined &&
      !/^https?:\/\/[^/]/i.test(values.url) &&
      `${values.url} is not a valid --url. Use an http:// or https:// URL.`,
  ].find((one) => typeof one === 'string');
  if (problem !== undefined) throw new CliError(problem, 'usage');
  const token = values.tokenFile === undefined ? null : tokenIn(values.tokenFile);
  const known = readClientSettings(env);
  return {
    patterns: values.junit ?? [],
    client: {
      url: values.url === undefined ? known.url : withoutTrailing(values.url, '/'),
      token: token ?? known.token,
      organization: values.org ?? known.organization,
    },
    place: {
      ...(repository === undefined ? {} : { repository }),
      ...(values.sha === undefined ? {} : { sha: values.sha.toLowerCase() }),
      ...(values.branch === undefined ? {} : { branch: values.branch }),
      ...(values.pr === undefined ? {} : { prNumber: Number(values.pr) }),
      ...(values.job === undefined ? {} : { job: values.job }),
    },
    variant: values.variant ?? '',
    waitMs: Number(values.wait ?? 20) * 1000,
    gitlabFile: values.gitlabAnnotations ?? null,
    isJson: values.json ?? false,
    mayFail: values.allowFailure ?? false,
    failureCodes: codes.map(Number),
    missingPercentMax: Number(values.missingTolerance ?? 1),
    isAllTests: values.allTests ?? false,
    shake: mode !== undefined && isMode(mode) && budget !== null ? { mode, budget } : null,
  };
}

/** Finds the tested repository, commit and branch: from the options, then from CI, then from the checkout. */
export async function findPlace(ciOptions: CiOptions, env: CiEnv, cwd: string): Promise<CiEnvironment> {
  const detected = detectCiEnvironment(env, readEvent(env));
  const requested = { ...detected, ...ciOptions.place };
  if (requested.repository !== null && requested.sha !== null && requested.branch !== null) return requested;
  const { repository, sha, branch } = await readCheckout(cwd);
  return {
    ...requested,
    repository: requested.repository ?? repository,
    sha: requested.sha ?? sha,
    branch: requested.branch ?? branch,
  };
}
