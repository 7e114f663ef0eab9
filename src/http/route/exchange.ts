// Exchanges the identity token of a CI job for a short token of Signalbox, so that CI needs no stored secret.
//
//   POST /v1/exchangeCiToken, without a token. In this order:
//     1. An administrator must have trusted the issuer that the token names for the repository (trustCi). Until then
//        nothing of the token is believed, and no request is sent.
//     2. Signature, audience and expiry are checked with the keys of that issuer.
//     3. The claims must name the repository, by the id at its Git host too, and a branch that is let in.
//     4. A pull request is looked up at its Git host: one of a fork gets a token whose reports decide nothing.

import type { FastifyInstance } from 'fastify';
import { hourMs } from '#base/duration.ts';
import { appError } from '#base/error.ts';
import { exchangeCiToken } from '#contract/endpoint/endpoint-token.ts';
import type { ExchangeCiTokenResponse } from '#contract/token.ts';
import type { BoundJob, CiIdentity, CiJob } from '#core/ci-job.ts';
import { matchesBranch } from '#core/health/branch.ts';
import type { Claims } from '#core/person.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import { createJobToken, listTrustedCi, type TrustedCi } from '#db/account/job-token-store.ts';
import type { Cell } from '#db/cell.ts';
import { listHeads } from '#db/host/head-store.ts';
import type { z } from 'zod';
import { readCiJob } from '../guard/ci-job.ts';
import { createIdTokens, readIssuer } from '../guard/id-token.ts';
import { createRateLimiter } from '../guard/rate-limit.ts';
import type { Deps } from '../deps.ts';
import { parseInput } from '../endpoint/validate.ts';

const bodyBytesMax = 32 * 1024;
/** Anyone may ask: limits for each address, and for each process. */
const limits = { address: { perSecond: 5, burst: 100 }, all: { perSecond: 50, burst: 500 } };
const validMs = hourMs;

type ExchangeRequest = z.output<(typeof exchangeCiToken)['request']>;
type Trusted = { readonly cell: Cell; readonly rules: readonly TrustedCi[] };

const refuse = (why: string) => appError('CI_JOB_REFUSED', { public: why });

export function addExchangeRoute(server: FastifyInstance, deps: Deps): void {
  const idTokens = createIdTokens({
    audience: deps.config.publicUrl,
    allow: deps.config.webhook.allow,
  });
  const limiters = {
    address: createRateLimiter(limits.address.perSecond, limits.address.burst),
    all: createRateLimiter(limits.all.perSecond, limits.all.burst),
  };
  const throttle = (address: string): void => {
    const now = performance.now();
    const wait = limiters.address.take(address, now) ?? limiters.all.take('all', now);
    if (wait !== null)
      throw appError('RATE_LIMITED', {
        public: `Too many CI jobs ask at once. Try again in ${wait} s.`,
        retryAfterSeconds: wait,
      });
  };

  server.post(exchangeCiToken.path, { bodyLimit: bodyBytesMax }, async (request, reply) => {
    throttle(request.ip);
    const parsed = parseInput(exchangeCiToken.request, request.body ?? {});
    if (parsed.kind === 'invalid') throw parsed.error;
    const { idToken, organization, repo } = parsed.value;
    const now = deps.clock.now();
    const issuer = readIssuer(idToken);
    const { cell, rules } = await findRules(deps, parsed.value, issuer);
    const claims = await idTokens.verify(idToken, issuer, now);
    const { rule, job } = chooseRule(rules, claims, repo);
    const bound = await bindJob(deps, cell, rule, job, parsed.value);
    const expiresAt = new Date(now.getTime() + validMs);
    const created = await createJobToken(cell, rule, bound, expiresAt);
    deps.log.info(
      { requestId: request.id, organization, tokenId: rule.id, isTrusted: bound.isTrusted },
      'CI job let in',
    );
    const answer: z.input<typeof ExchangeCiTokenResponse> = {
      value: created.secret,
      expiresAt: created.expiresAt.toISOString(),
      ...bound,
    };
    return reply
      .header('cache-control', 'no-store')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(answer));
  });
}

async function findRules(
  { cells }: Deps,
  { organization, repo }: ExchangeRequest,
  issuer: string,
): Promise<Trusted> {
  for (const cell of cells.all) {
    const rules = await listTrustedCi(cell.db, organization, issuer, repo);
    if (rules.length > 0) return { cell, rules };
  }
  throw refuse(
    `The organization ${organization} trusts no CI jobs of ${issuer} for ${fullName(repo)} on ${repo.host}. An administrator can let them in with trustCi, or under Tokens in the dashboard.`,
  );
}

/** The first rule that lets the job in; else why the last one does not. */
function chooseRule(
  rules: readonly TrustedCi[],
  claims: Claims,
  repo: RepositoryName,
): { readonly rule: TrustedCi; readonly job: CiJob } {
  let why = '';
  for (const rule of rules) {
    const job = readCiJob(rule.identity.provider, claims);
    if (job === null) {
      why = 'The identity token lacks claims of its CI system.';
      continue;
    }
    const bar = findBar(rule, job, repo);
    if (bar === null) return { rule, job };
    why = bar;
  }
  throw refuse(why);
}

/** Why the rule does not let in the job; null: it does. */
function findBar({ identity, hostId }: TrustedCi, job: CiJob, repo: RepositoryName): string | null {
  const wanted = identity.pipeline ?? fullName(repo).toLowerCase();
  if (job.pipeline !== wanted) return `The CI job is one of ${job.pipeline}, not of ${wanted}.`;
  if (job.repositoryId !== null && hostId !== null && job.repositoryId !== hostId)
    return `The CI job is one of another repository that is now called ${wanted}.`;
  return findBranchBar(identity, job);
}

function findBranchBar({ branches }: CiIdentity, { branch }: CiJob): string | null {
  if (branches === null) return null;
  if (branch === null) return `Only jobs of these branches are let in: ${branches.join(', ')}.`;
  const isIn = branches.some((pattern) => matchesBranch(pattern, branch));
  return isIn ? null : `The branch ${branch} is none of those that are let in: ${branches.join(', ')}.`;
}

async function bindJob(
  deps: Deps,
  cell: Cell,
  rule: TrustedCi,
  job: CiJob,
  request: ExchangeRequest,
): Promise<BoundJob> {
  const { branch, prNumber } = job;
  if (prNumber !== null) return bindPullRequest(deps, cell, rule, prNumber, request);
  if (!job.isReviewed) return { sha: null, branch: null, prNumber: null, isTrusted: false };
  const asked = request.sha?.toLowerCase() ?? job.sha;
  if (asked !== job.sha) throw refuse(`The CI job runs on commit ${job.sha}, not on ${asked}.`);
  return { sha: job.sha, branch, prNumber: null, isTrusted: true };
}

async function bindPullRequest(
  { hostFor }: Deps,
  cell: Cell,
  { organizationId, repositoryId }: TrustedCi,
  number: number,
  { repo, sha: asked }: ExchangeRequest,
): Promise<BoundJob> {
  const repository = { ...repo, id: repositoryId, organizationId };
  const found = await hostFor(cell.name, repo.host)?.readPullRequest({ repository, number });
  if (!found) throw refuse(`${repo.host} has no pull request #${number} in ${fullName(repo)}.`);
  const head = found.headSha.toLowerCase();
  const sha = asked?.toLowerCase() ?? head;
  const wasHead = async () =>
    (await listHeads(cell.db, repositoryId, number)).some((each) => each.sha === sha);
  if (sha !== head && !(await wasHead()))
    throw refuse(`Commit ${sha} is not known as a head of pull request #${number}.`);
  return { sha, branch: null, prNumber: number, isTrusted: found.fork === null };
}
