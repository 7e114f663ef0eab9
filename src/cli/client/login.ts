// `signalbox login` and `signalbox logout`. A token is typed without being shown, or comes over a pipe; it is never an
// argument, where others on the machine could see it.

import type { AddCommand, CliContext } from '../command.ts';
import { withExamples } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { readSecret } from '../terminal/prompt.ts';
import { addressOf, tokenIn, withJson } from './connection.ts';
import { readLogins, writeLogins } from './login-store.ts';

type Wishes = { readonly tokenFile?: string; readonly all?: boolean; readonly json?: boolean };

export const addLogin: AddCommand = ({ program, context, run }) => {
  const login = withJson(
    program
      .command('login')
      .summary('keep a token for the commands that speak to a service')
      .description(
        'Asks for a token, checks it with the service, and keeps it in a file that only you can read. Without a terminal the token is read from standard input.',
      )
      .argument('[url]', 'where Signalbox is; else SIGNALBOX_URL')
      .option('--token-file <file>', 'file with the token'),
  );
  withExamples(
    login,
    { line: 'signalbox login http://localhost:8080', does: 'asks for the token' },
    {
      line: 'echo "$SIGNALBOX_API_TOKEN" | signalbox login http://localhost:8080',
      does: 'takes it from a pipe',
    },
  );
  run(login, ({ args: [url], options }) => logIn(context, url as string | undefined, options));

  const logout = program
    .command('logout')
    .summary('forget a token that login kept')
    .description('Forgets the token. It stays valid: end it with signalbox admin revoke-token.')
    .argument('[url]', 'of which service; else the last one you logged in to')
    .option('--all', 'of every service');
  withExamples(
    logout,
    { line: 'signalbox logout', does: 'forgets the service you logged in to last' },
    { line: 'signalbox logout --all', does: 'forgets every service' },
  );
  run(logout, async ({ args: [url], options }) => logOut(context, url as string | undefined, options));
};

async function logIn(context: CliContext, typed: string | undefined, options: Wishes): Promise<number> {
  const named = typed ?? context.env['SIGNALBOX_URL'];
  if (named === undefined)
    throw new CliError('Say where Signalbox is: signalbox login https://signalbox.example', 'usage');
  const url = addressOf(named);
  const token =
    options.tokenFile === undefined ? await readSecret(`Token for ${url}: `) : tokenIn(options.tokenFile);
  if (token === '') throw new CliError('No token was given.', 'usage');
  const { createApi } = await import('./api.ts');
  const answer = await createApi(url, token).call('getOrganization', {});
  const { organization } = answer;
  const { services } = readLogins(context.env);
  const file = writeLogins(context.env, {
    current: url,
    services: { ...services, [url]: { token, organization: organization.slug } },
  });
  if (options.json === true) printJson(answer);
  else
    printLines([
      `Logged in to ${url} as the organization ${plainLine(organization.slug)}. The token may: ${answer.token.scopes.join(', ')}.`,
      `Kept in ${file}.`,
    ]);
  return 0;
}

function logOut(context: CliContext, typed: string | undefined, options: Wishes): number {
  const { current, services } = readLogins(context.env);
  if (options.all === true) {
    writeLogins(context.env, { current: null, services: {} });
    printLines(['Logged out everywhere.']);
    return 0;
  }
  const url = typed === undefined ? current : addressOf(typed);
  if (url === null || !(url in services))
    throw new CliError(url === null ? 'You are not logged in.' : `You are not logged in to ${url}.`);
  const left = Object.fromEntries(Object.entries(services).filter(([address]) => address !== url));
  writeLogins(context.env, { current: Object.keys(left).at(-1) ?? null, services: left });
  printLines([`Logged out of ${url}.`]);
  return 0;
}
