// The token of a CI job that has no stored one: CI vouches for the job with an identity token, which is exchanged.
//
//   GitHub and Forgejo Actions   asked for at ACTIONS_ID_TOKEN_REQUEST_URL, if the job has the permission `id-token: write`
//   GitLab CI                    in SIGNALBOX_ID_TOKEN, which the job declares under `id_tokens`
//   Buildkite                    `buildkite-agent oidc request-token`

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { CiEnv } from '#config/ci-environment.ts';
import type { ClientSettings } from '#config/client.ts';
import { exchangeCiToken } from '#contract/endpoint/endpoint-token.ts';
import type { RepositoryName } from '#core/repository.ts';
import { call, parseServiceResponse, ServiceError } from './transport.ts';

const policy = { timeoutMs: 15_000, pauseMs: 400, isRepeatable: true };

const ActionsAnswer = z.object({ value: z.string().min(1) });

async function readActionsToken(env: CiEnv, audience: string): Promise<string | null> {
  const address = env['ACTIONS_ID_TOKEN_REQUEST_URL'];
  const secret = env['ACTIONS_ID_TOKEN_REQUEST_TOKEN'];
  if (!address || !secret || !URL.canParse(address)) return null;
  const url = new URL(address);
  url.searchParams.set('audience', audience);
  const sent = { method: 'GET', headers: { authorization: `bearer ${secret}` } };
  return parseServiceResponse(ActionsAnswer, await call(url.href, sent, policy)).value;
}

async function readBuildkiteToken(env: CiEnv, audience: string): Promise<string | null> {
  if (env['BUILDKITE'] !== 'true') return null;
  try {
    const { stdout } = await promisify(execFile)(
      'buildkite-agent',
      ['oidc', 'request-token', '--audience', audience],
      { timeout: policy.timeoutMs, maxBuffer: 64 * 1024 },
    );
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

const readIdToken = async (env: CiEnv, audience: string): Promise<string | null> =>
  env['SIGNALBOX_ID_TOKEN']?.trim() ||
  ((await readActionsToken(env, audience)) ?? readBuildkiteToken(env, audience));

type IdentifiedJob = {
  readonly repository: RepositoryName | null;
  /** The commit that the job reports about. */
  readonly sha: string | null;
};

/** The stored token, or one for this job; null: there is neither. Throws why the job gets none. */
export async function findJobToken(
  { token, organization }: ClientSettings,
  url: string,
  env: CiEnv,
  { repository, sha }: IdentifiedJob,
): Promise<string | null> {
  if (token !== null) return token;
  const idToken = await readIdToken(env, url);
  if (idToken === null) return null;
  if (organization === null)
    throw new ServiceError('The organization is not known. Set SIGNALBOX_ORG to its slug.');
  if (repository === null) throw new ServiceError('The repository is not known. Use --repo host/owner/name.');
  const body = JSON.stringify({ organization, repo: repository, idToken, ...(sha === null ? {} : { sha }) });
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const answer = await call(`${url}${exchangeCiToken.path}`, sent, policy);
  return parseServiceResponse(exchangeCiToken.response, answer).value;
}

export const noTokenText = 'There is no token. Set SIGNALBOX_API_TOKEN, or give the job an identity token.';
