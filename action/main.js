// The GitHub Action (action.yml): asks the runner for an identity token of this job, exchanges it, and gives the token of
// Signalbox to the steps that follow. It needs the permission `id-token: write`, and no package: it runs as it is.

import { appendFileSync, readFileSync } from 'node:fs';

const { env } = process;

/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`);

class Problem extends Error {}

/** @param {string} name */
function input(name) {
  const text = (env[`INPUT_${name.toUpperCase()}`] ?? '').trim();
  if (text === '') throw new Problem(`Set the input ${name}.`);
  return text;
}

/** The head of the pull request: GITHUB_SHA is its merge with the base. */
function readSha() {
  try {
    const event = JSON.parse(readFileSync(env['GITHUB_EVENT_PATH'] ?? '', 'utf8'));
    return event.pull_request?.head?.sha ?? env['GITHUB_SHA'];
  } catch {
    return env['GITHUB_SHA'];
  }
}

/**
 * @param {string} address
 * @param {RequestInit} request
 * @param {string} whose
 */
async function ask(address, request, whose) {
  const signal = AbortSignal.timeout(15_000);
  const answer = await fetch(address, { ...request, redirect: 'error', signal });
  const body = await answer.json().catch(() => ({}));
  if (answer.ok && typeof body.value === 'string') return body.value;
  throw new Problem(
    `${whose} answered ${answer.status}: ${body.error?.message ?? body.message ?? 'no token'}`,
  );
}

/** @param {string} secret */
const mask = (secret) => say(`::add-mask::${secret}`);

async function run() {
  const url = input('url').replace(/\/$/, '');
  const organization = input('organization');
  const address = env['ACTIONS_ID_TOKEN_REQUEST_URL'];
  if (!address)
    throw new Problem(
      'This job cannot prove who it is. Give it the permission id-token: write. Pull requests of forks never have it: use an upload-only token for them.',
    );
  const asked = new URL(address);
  asked.searchParams.set('audience', url);
  const authorization = `bearer ${env['ACTIONS_ID_TOKEN_REQUEST_TOKEN'] ?? ''}`;
  const idToken = await ask(asked.href, { headers: { authorization } }, 'The runner');
  mask(idToken);
  const [owner, name] = (env['GITHUB_REPOSITORY'] ?? '').split('/');
  const repo = { host: new URL(env['GITHUB_SERVER_URL'] ?? '').host, owner, name };
  const sha = readSha();
  const body = JSON.stringify({ organization, repo, idToken, ...(sha && { sha }) });
  const headers = { 'content-type': 'application/json' };
  const token = await ask(`${url}/v1/exchangeCiToken`, { method: 'POST', headers, body }, 'Signalbox');
  mask(token);
  const variables = { SIGNALBOX_URL: url, SIGNALBOX_ORG: organization, SIGNALBOX_API_TOKEN: token };
  for (const [variable, value] of Object.entries(variables))
    appendFileSync(env['GITHUB_ENV'] ?? '', `${variable}=${value}\n`);
  appendFileSync(env['GITHUB_OUTPUT'] ?? '', `token=${token}\n`);
  say(`Signalbox: this job is let in at ${url}.`);
}

try {
  await run();
} catch (error) {
  const { message } = /** @type {Error} */ (error);
  // A line of its own ends a workflow command.
  say(`::error title=Signalbox::${message.replaceAll('%', '%25').replaceAll(/\r?\n/g, '%0A')}`);
  process.exitCode = 1;
}
