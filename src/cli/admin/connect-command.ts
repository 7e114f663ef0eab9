// `signalbox connect`: connects the organization to a Git host over the API. Secrets are read from files, never from the
// command line, where others on the machine could see them.

import { InvalidArgumentError } from 'commander';
import { withoutTrailing } from '#base/text.ts';
import type { RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { findKindByName, hostKindNames, hostKinds, type HostKindName, isHostKind } from '#host/kinds.ts';
import { openApi, readSecretFile, withConnection, withJson } from '../client/connection.ts';
import { type AddCommand, type Given, withExamples } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';

type ConnectInput = RequestOf<'connectHost'>;

type ConnectOptions = {
  readonly kind?: string;
  readonly hostTokenFile?: string;
  readonly appId?: number;
  readonly installationId?: readonly number[];
  readonly privateKeyFile?: string;
  readonly json?: true;
};

function asNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It is not a number above 0.');
  return Number(text);
}

const asNumbers = (text: string): readonly number[] => text.split(',').map((part) => asNumber(part.trim()));

const readSecret = (file: string): string => readSecretFile(file, 'A file', 'its path');

const kindUsage = hostKindNames.map((name) => `--kind ${name} (${hostKinds[name].title})`).join(' or ');

/** The kind that was named, or that the host name shows. */
function findKind(address: string, named: string | undefined): HostKindName {
  if (isHostKind(named)) return named;
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  const known = findKindByName(host);
  if (named === undefined && known !== null) return known;
  throw new CliError(
    named === undefined
      ? `The kind of ${plainLine(address)} is not known. Use ${kindUsage}.`
      : `${plainLine(named)} is not a valid --kind. Use ${kindUsage}.`,
    'usage',
  );
}

function findCredentials({
  appId,
  installationId,
  privateKeyFile,
  hostTokenFile,
}: ConnectOptions): ConnectInput['credentials'] {
  if (hostTokenFile !== undefined) return { kind: 'token', token: readSecret(hostTokenFile) };
  if (appId !== undefined && installationId !== undefined && privateKeyFile !== undefined)
    return {
      kind: 'github-app',
      appId,
      installationIds: [...installationId],
      privateKey: readSecret(privateKeyFile),
    };
  throw new CliError(
    'The credentials are missing. Use --host-token-file FILE, or for a GitHub App --app-id N --installation-id N --private-key-file FILE. The page “Git hosts” of the dashboard registers a GitHub App, with nothing to copy.',
    'usage',
  );
}

export const addConnect: AddCommand = ({ program, context, run }) => {
  const command = withJson(
    withConnection(
      program
        .command('connect')
        .description('connect the organization to a Git host, or replace the credentials')
        .argument('<git-host>', 'URL of the Git host, for example https://github.com')
        .option(
          '--kind <kind>',
          `kind of the Git host, where its name does not show it: ${hostKindNames.join(' or ')}`,
        )
        .option(
          '--host-token-file <file>',
          'file with the token of the account at the Git host, - for standard input',
        )
        .option('--app-id <n>', 'number of the GitHub App', asNumber)
        .option('--installation-id <n>', 'number of its installation; of several: N,M', asNumbers)
        .option('--private-key-file <file>', 'file with the private key of the App, - for standard input'),
    ),
  );
  withExamples(command, {
    line: 'signalbox connect https://github.com --app-id 123456 --installation-id 987654 --private-key-file app.pem',
    does: 'check a GitHub App, store its key encrypted, and list the repositories that it reaches',
  });
  run(command, async (given: Given) => {
    const options = given.options as ConnectOptions;
    const url = withoutTrailing(String(given.args[0]), '/');
    const kind = findKind(url, options.kind);
    const request = { kind, url, credentials: findCredentials(options) };
    const answer = await (await openApi(context, given.options)).call('connectHost', request);
    if (options.json === true) printJson(answer);
    else printLines(connectionLines(answer));
    return 0;
  });
};

/** So many repositories are listed. */
const listedMax = 20;

function connectionLines({ connection, access }: ResponseOf<'connectHost'>): readonly string[] {
  const pen = penFor(process.stdout);
  const { host } = connection;
  const { missing, repositories, version, account } = access;
  const names = repositories.map(({ owner, name }) => `${host}/${owner}/${name}`);
  return [
    `Connected to ${plainLine(host)} (${plainLine(version)}). Signalbox acts there as ${plainLine(account ?? 'an unknown account')}.`,
    ...missing.map((sentence) => pen('warning', plainLine(sentence))),
    names.length === 0 ? 'It may not write in any repository yet.' : 'It may write in:',
    ...names.slice(0, listedMax).map((name) => `  ${plainLine(name)}`),
    ...(names.length > listedMax ? [`  and ${names.length - listedMax} more`] : []),
    `Next, create a queue: signalbox queue create --repo ${plainLine(names[0] ?? `${host}/owner/name`)} --branch ${plainLine(repositories[0]?.defaultBranch ?? 'main')}`,
  ];
}
