// Which service a command speaks to, and by which token. An option stands above the environment, and that above what
// `signalbox login` keeps. A token that is kept is sent to the address it was kept for, and to no other.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { withoutTrailing } from '#base/text.ts';
import { clientSettingsOf } from '#config/client.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import type { Api } from './api.ts';
import { readLogins } from './login-store.ts';

export type Connection = { readonly url: string; readonly token: string };

/** Adds `--url` and `--token-file`. */
export function withConnection(command: Command): Command {
  return command
    .option('--url <url>', 'where Signalbox is; else SIGNALBOX_URL, else where you are logged in')
    .option('--token-file <file>', 'file with the token, - for standard input; else SIGNALBOX_API_TOKEN');
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option('--json', 'the answer of the service as JSON');
}

/** http or https, without a slash at its end. */
export function addressOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:\/\/[^/]/i.test(text))
    throw new CliError(`${text} is no address. Give one like https://signalbox.example.`, 'usage');
  const { username, password } = new URL(text);
  if (username !== '' || password !== '')
    throw new CliError('An address must not hold a name or a password.', 'usage');
  return withoutTrailing(text, '/');
}

export function tokenIn(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim();
  } catch (error) {
    throw new CliError(`The token could not be read: ${(error as Error).message}`, 'usage');
  }
}

export function findConnection({ env }: Pick<CliContext, 'env'>, options: Given['options']): Connection {
  const { url: wished, tokenFile } = options as { readonly url?: string; readonly tokenFile?: string };
  const known = clientSettingsOf(env);
  const logins = readLogins(env);
  const named = wished ?? known.url ?? logins.current;
  if (named === null)
    throw new CliError('No service is known. Log in with: signalbox login https://signalbox.example');
  const url = addressOf(named);
  const token =
    (tokenFile === undefined ? known.token : tokenIn(tokenFile)) ?? logins.services[url]?.token ?? '';
  if (token === '') throw new CliError(`There is no token for ${url}. Log in with: signalbox login ${url}`);
  return { url, token };
}

/** The typed calls of the service that is meant. */
export async function openApi(context: Pick<CliContext, 'env'>, options: Given['options']): Promise<Api> {
  const { url, token } = findConnection(context, options);
  // Loaded here: the contract is large, and help and mistakes do without it.
  const { createApi } = await import('./api.ts');
  return createApi(url, token);
}
