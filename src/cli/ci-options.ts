// The options of `signalbox test` and `signalbox upload`: read, checked, and put together with what CI, the checkout and
// the environment say. An option stands above all of those.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CiEnv, type CiEnvironment, ciEnvironmentOf } from '#config/ci.ts';
import { type ClientSettings, clientSettingsOf } from '#config/client.ts';
import { repositoryOfText } from '#config/remote-url.ts';
import { readCheckout } from './checkout.ts';

const options = {
  junit: { type: 'string', multiple: true },
  url: { type: 'string' },
  org: { type: 'string' },
  'token-file': { type: 'string' },
  repo: { type: 'string' },
  sha: { type: 'string' },
  branch: { type: 'string' },
  pr: { type: 'string' },
  job: { type: 'string' },
  variant: { type: 'string' },
  wait: { type: 'string' },
  json: { type: 'boolean' },
  'allow-failure': { type: 'boolean' },
  'failure-code': { type: 'string', multiple: true },
  'missing-tolerance': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const optionsUsage = `  --junit GLOB             reports to take; may be given again (in quotes: the shell must not expand it)
  --url URL                where Signalbox is; else SIGNALBOX_URL
  --token-file FILE        file with the token, - for standard input; else SIGNALBOX_API_TOKEN
  --org SLUG               the organization; else SIGNALBOX_ORG, else the token's
  --repo HOST/OWNER/NAME   the repository
  --sha SHA                the commit that was tested
  --branch NAME            its branch
  --pr NUMBER              its pull request
  --job NAME               tells jobs of CI apart; the same for every run of the job
  --variant NAME           tells apart the same tests run in another way, such as another operating system
  --wait SECONDS           longest wait for the judgement, default 20

What is not given is found in the variables of CI (GitHub, Gitea, Forgejo, GitLab, Buildkite, CircleCI, Jenkins, Azure,
Drone, Woodpecker), else in the git checkout.`;

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

export type ParsedOptions =
  | { readonly kind: 'wishes'; readonly wishes: CiWishes }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly why: string };

/** `args` without the command to run. */
export function parseOptions(args: readonly string[], env: CiEnv): ParsedOptions {
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    return { kind: 'mistake', why: (error as Error).message };
  }
  if (values.help === true) return { kind: 'help' };
  const repository = values.repo === undefined ? undefined : repositoryOfText(values.repo);
  const codes = (values['failure-code'] ?? ['1']).flatMap((code) => code.split(','));
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
    values['missing-tolerance'] !== undefined &&
      !(Number(values['missing-tolerance']) >= 0 && Number(values['missing-tolerance']) <= 100) &&
      '--missing-tolerance takes percent.',
    values.url !== undefined && !/^https?:\/\/[^/]/i.test(values.url) && '--url takes an http address.',
  ].find((one) => typeof one === 'string');
  if (problem !== undefined) return { kind: 'mistake', why: problem };
  let token: string | null = null;
  try {
    token = values['token-file'] === undefined ? null : tokenFrom(values['token-file']);
  } catch (error) {
    return { kind: 'mistake', why: `The token could not be read: ${(error as Error).message}` };
  }
  const known = clientSettingsOf(env);
  const wishes: CiWishes = {
    patterns: values.junit ?? [],
    client: {
      url: values.url?.replace(/\/+$/, '') ?? known.url,
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
    mayFail: values['allow-failure'] ?? false,
    failureCodes: codes.map(Number),
    missingPercentMax: Number(values['missing-tolerance'] ?? 1),
  };
  return { kind: 'wishes', wishes };
}

const tokenFrom = (file: string): string => readFileSync(file === '-' ? 0 : file, 'utf8').trim();

/** What CI left in the file that describes the event; null: none, or nothing of use. */
export function readEvent(env: CiEnv): unknown {
  try {
    return JSON.parse(readFileSync(env['GITHUB_EVENT_PATH'] ?? '', 'utf8'));
  } catch {
    return null;
  }
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
