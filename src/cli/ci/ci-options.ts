// The options of `signalbox test` and `signalbox upload`: read, checked, and put together with what CI, the checkout and
// the environment say. An option stands above all of those.

import type { Command } from 'commander';
import { withoutTrailing } from '#base/text.ts';
import { type CiEnv, type CiEnvironment, ciEnvironmentOf } from '#config/ci.ts';
import { type ClientSettings, clientSettingsOf } from '#config/client.ts';
import { repositoryOfText } from '#config/remote-url.ts';
import { readCheckout } from '../client/checkout.ts';
import { readEvent } from '../client/ci-event.ts';
import { tokenIn } from '../client/connection.ts';
import type { Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';

/** Collects what may be given again. */
const again = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

/** Adds the options that both have. */
export function withCiOptions(command: Command): Command {
  return command
    .option('--junit <glob>', 'reports to take; may be given again (in quotes, for the shell)', again)
    .option('--url <url>', 'where Signalbox is; else SIGNALBOX_URL')
    .option('--token-file <file>', 'file with the token, - for standard input; else SIGNALBOX_API_TOKEN')
    .option('--org <slug>', "the organization; else SIGNALBOX_ORG, else the token's")
    .option('--repo <host/owner/name>', 'the repository')
    .option('--sha <sha>', 'the commit that was tested')
    .option('--branch <name>', 'its branch')
    .option('--pr <number>', 'its pull request')
    .option('--job <name>', 'tells jobs of CI apart; the same for every run of the job')
    .option('--variant <name>', 'tells apart the same tests run in another way, such as on another system')
    .option('--wait <seconds>', 'longest wait for the judgement, default 20')
    .addHelpText('after', foundElsewhere);
}

/** Adds those of `signalbox test`. */
export function withJudgeOptions(command: Command): Command {
  return command
    .option('--failure-code <n,n>', 'exit codes by which the runner says that tests failed, default 1', again)
    .option('--missing-tolerance <percent>', 'of the usual tests that may be missing, default 1');
}

const foundElsewhere = `
What is not given is found in the variables of CI (GitHub, Gitea, Forgejo, GitLab, Buildkite, CircleCI, Jenkins,
Azure, Drone, Woodpecker), else in the git checkout.`;

/** As commander reads the options. */
type CiOptions = {
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
  readonly json?: boolean;
  readonly allowFailure?: boolean;
  readonly failureCode?: readonly string[];
  readonly missingTolerance?: string;
};

export type CiWishes = {
  readonly patterns: readonly string[];
  readonly client: ClientSettings;
  readonly place: Partial<Pick<CiEnvironment, 'repository' | 'sha' | 'branch' | 'prNumber' | 'job'>>;
  readonly variant: string;
  readonly waitMs: number;
  readonly isJson: boolean;
  readonly mayFail: boolean;
  readonly failureCodes: readonly number[];
  readonly missingPercentMax: number;
};

/** What they come to, or the mistake in them. */
export function parseOptions(given: Given['options'], env: CiEnv): CiWishes {
  const values = given as CiOptions;
  const repository = values.repo === undefined ? undefined : repositoryOfText(values.repo);
  const codes = (values.failureCode ?? ['1']).flatMap((code) => code.split(','));
  const problem = [
    repository === null && '--repo takes host/owner/name, for example github.com/acme/widgets.',
    values.sha !== undefined &&
      !/^[0-9a-f]{40}([0-9a-f]{24})?$/i.test(values.sha) &&
      '--sha takes a full commit id.',
    values.pr !== undefined &&
      !/^[1-9]\d{0,9}$/.test(values.pr) &&
      '--pr takes the number of a pull request.',
    (values.variant?.length ?? 0) > 64 && '--variant takes at most 64 characters.',
    values.wait !== undefined && !/^\d{1,4}$/.test(values.wait) && '--wait takes seconds.',
    !codes.every((code) => /^\d{1,3}$/.test(code) && Number(code) >= 1 && Number(code) < 128) &&
      '--failure-code takes exit codes from 1 to 127, with commas between them.',
    values.missingTolerance !== undefined &&
      !(Number(values.missingTolerance) >= 0 && Number(values.missingTolerance) <= 100) &&
      '--missing-tolerance takes percent.',
    values.url !== undefined && !/^https?:\/\/[^/]/i.test(values.url) && '--url takes an http address.',
  ].find((one) => typeof one === 'string');
  if (problem !== undefined) throw new CliError(problem, 'usage');
  const token = values.tokenFile === undefined ? null : tokenIn(values.tokenFile);
  const known = clientSettingsOf(env);
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
    isJson: values.json ?? false,
    mayFail: values.allowFailure ?? false,
    failureCodes: codes.map(Number),
    missingPercentMax: Number(values.missingTolerance ?? 1),
  };
}

/** Where and what was tested: as told, else as CI says, else as the checkout does. */
export async function findPlace(wishes: CiWishes, env: CiEnv, cwd: string): Promise<CiEnvironment> {
  const told = ciEnvironmentOf(env, readEvent(env));
  const wished = { ...told, ...wishes.place };
  if (wished.repository !== null && wished.sha !== null && wished.branch !== null) return wished;
  const { repository, sha, branch } = await readCheckout(cwd);
  return {
    ...wished,
    repository: wished.repository ?? repository,
    sha: wished.sha ?? sha,
    branch: wished.branch ?? branch,
  };
}
