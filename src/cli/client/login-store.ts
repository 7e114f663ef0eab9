// The logins that `signalbox login` stores: a token for each URL, in a file that only its owner can read.

import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CiEnv } from '#config/ci-environment.ts';
import { CliError } from '../exit-codes.ts';

export type Logins = {
  /** The URL to use if none is given; null: none. */
  readonly current: string | null;
  readonly services: Readonly<Record<string, { readonly token: string; readonly organization: string }>>;
};

const nothing: Logins = { current: null, services: {} };

/** Null: there is no home directory. */
function locateLoginFile(env: CiEnv): string | null {
  const home = env['HOME'] || env['USERPROFILE'];
  const folder = env['XDG_CONFIG_HOME'] || (home ? join(home, '.config') : null);
  return folder === null ? null : join(folder, 'signalbox', 'login.json');
}

export function readLogins(env: CiEnv): Logins {
  const file = locateLoginFile(env);
  if (file === null) return nothing;
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothing;
    throw new CliError(`${file} could not be read: ${(error as Error).message}`);
  }
  try {
    return loginsIn(JSON.parse(text));
  } catch {
    throw new CliError(`${file} is not a valid login file. Delete it and log in again.`);
  }
}

function loginsIn(content: unknown): Logins {
  const { current, services } = content as Partial<Logins>;
  const isText = (value: unknown): value is string => typeof value === 'string';
  const isWhole =
    (current === null || isText(current)) &&
    typeof services === 'object' &&
    Object.values(services).every(({ token, organization }) => isText(token) && isText(organization));
  if (!isWhole) throw new Error('not a file of logins');
  return { current, services };
}

/** Writes the file atomically, and never readable by others, not even for a moment. */
export function writeLogins(env: CiEnv, logins: Logins): string {
  const file = locateLoginFile(env);
  if (file === null)
    throw new CliError(
      'There is no home directory to store the login in. Set HOME, or use SIGNALBOX_API_TOKEN.',
    );
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
  return file;
}
