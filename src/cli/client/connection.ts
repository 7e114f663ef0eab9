// Which service a command calls, and with which token. An option overrides the environment, and that
// overrides what `signalbox login` stored. A stored token is sent only to the URL that it was stored for.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { withoutTrailing } from '#base/text.ts';
import { readClientSettings } from '#config/client.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import type { Api } from './api.ts';
import { readLogins } from './login-store.ts';

export type ServiceConnection = { readonly url: string; readonly token: string };

/** Adds `--url` and `--token-file`. */
export function withConnection(command: Command): Command {
  return command
    .option('--url <url>', 'URL of Signalbox (default: SIGNALBOX_URL, or the last login)')
    .option(
      '--token-file <file>',
      'file with the token, - for standard input (default: SIGNALBOX_API_TOKEN, or the login)',
    );
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print the answer of the service as JSON');
}

/** http or https, without a slash at its end. */
export function parseServiceUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:\/\/[^/]/i.test(text))
    throw new CliError(`${text} is not a valid URL. Use one like https://signalbox.example.`, 'usage');
  const { username, password } = new URL(text);
  if (username !== '' || password !== '')
    throw new CliError(
      'The URL must not contain a user name or password. Use signalbox login for the token.',
      'usage',
    );
  return withoutTrailing(text, '/');
}

/** `-` is standard input. `subject` and `check` are for the message: what it is, and what to look at. */
export function readSecretFile(file: string, subject: string, check: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim();
  } catch (error) {
    throw new CliError(`${subject} could not be read: ${(error as Error).message}. Check ${check}.`, 'usage');
  }
}

export const tokenIn = (file: string): string => readSecretFile(file, 'The token', '--token-file');

export function findConnection(
  { env }: Pick<CliContext, 'env'>,
  options: Given['options'],
): ServiceConnection {
  const { url: wished, tokenFile } = options as { readonly url?: string; readonly tokenFile?: string };
  const known = readClientSettings(env);
  const logins = readLogins(env);
  const named = wished ?? known.url ?? logins.current;
  if (named === null)
    throw new CliError(
      'The URL of Signalbox is not known. Log in with: signalbox login https://signalbox.example',
    );
  const url = parseServiceUrl(named);
  const token =
    (tokenFile === undefined ? known.token : tokenIn(tokenFile)) ?? logins.services[url]?.token ?? '';
  if (token === '') throw new CliError(`There is no token for ${url}. Log in with: signalbox login ${url}`);
  return { url, token };
}

/** The typed calls of the selected service. */
export async function openApi(context: Pick<CliContext, 'env'>, options: Given['options']): Promise<Api> {
  const { url, token } = findConnection(context, options);
  // Loaded here: the contract is large, and help and usage errors do not need it.
  const { createApi } = await import('./api.ts');
  return createApi(url, token);
}
