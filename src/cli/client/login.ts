// `signalbox login` and `signalbox logout`. A token is typed without being shown, or read from a pipe; it is
// never an argument, which others on the machine could see.

import type { AddCommand, CliContext } from '../command.ts';
import { withExamples } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { readSecret } from '../terminal/prompt.ts';
import { parseServiceUrl, tokenIn, withJson } from './connection.ts';
import { readLogins, writeLogins } from './login-store.ts';

type LoginOptions = { readonly tokenFile?: string; readonly all?: boolean; readonly json?: boolean };

export const addLogin: AddCommand = ({ program, context, run }) => {
  const login = withJson(
    program
      .command('login')
      .summary('store a token for the other commands')
      .description(
        'Asks for a token, checks it with the service, and stores it in a file that only you can read. Without a terminal, reads the token from standard input.',
      )
      .argument('[url]', 'URL of Signalbox (default: SIGNALBOX_URL)')
      .option('--token-file <file>', 'file with the token'),
  );
  withExamples(
    login,
    { line: 'signalbox login http://localhost:8080', does: 'ask for the token' },
    {
      line: 'echo "$SIGNALBOX_API_TOKEN" | signalbox login http://localhost:8080',
      does: 'read the token from a pipe',
    },
  );
  run(login, ({ args: [url], options }) => logIn(context, url as string | undefined, options));

  const logout = program
    .command('logout')
    .summary('delete a stored token')
    .description(
      'Deletes the stored token. The token stays valid: revoke it with signalbox admin revoke-token.',
    )
    .argument('[url]', 'URL of Signalbox (default: the last login)')
    .option('--all', 'delete the tokens of every service');
  withExamples(
    logout,
    { line: 'signalbox logout', does: 'delete the token of the last login' },
    { line: 'signalbox logout --all', does: 'delete every stored token' },
  );
  run(logout, async ({ args: [url], options }) => logOut(context, url as string | undefined, options));
};

async function logIn(context: CliContext, typed: string | undefined, options: LoginOptions): Promise<number> {
  const named = typed ?? context.env['SIGNALBOX_URL'];
  if (named === undefined)
    throw new CliError(
      'The URL of Signalbox is missing. Use: signalbox login https://signalbox.example',
      'usage',
    );
  const url = parseServiceUrl(named);
  const token =
    options.tokenFile === undefined ? await readSecret(`Token for ${url}: `) : tokenIn(options.tokenFile);
  if (token === '') throw new CliError('There is no token on standard input. Nothing was stored.', 'usage');
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
      `Logged in to ${url} as the organization ${plainLine(organization.slug)}. The token has the scopes ${answer.token.scopes.join(', ')}.`,
      `The token is stored in ${file}.`,
    ]);
  return 0;
}

function logOut(context: CliContext, typed: string | undefined, options: LoginOptions): number {
  const { current, services } = readLogins(context.env);
  if (options.all === true) {
    writeLogins(context.env, { current: null, services: {} });
    printLines(['Logged out of every service.']);
    return 0;
  }
  const url = typed === undefined ? current : parseServiceUrl(typed);
  if (url === null || !(url in services))
    throw new CliError(
      url === null
        ? 'You are not logged in. Log in with: signalbox login https://signalbox.example'
        : `You are not logged in to ${url}.`,
    );
  const left = Object.fromEntries(Object.entries(services).filter(([address]) => address !== url));
  writeLogins(context.env, { current: Object.keys(left).at(-1) ?? null, services: left });
  printLines([`Logged out of ${url}.`]);
  return 0;
}
