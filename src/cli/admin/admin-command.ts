// `signalbox admin`, as it is typed. admin.ts performs it, where the database is.

import { type Command, Option } from 'commander';
import { hostKindNames, listConnectOptions } from '#host/kinds.ts';
import { type AddCommand, withExamples } from '../command.ts';
import { restrictToChoices } from '../suggestion.ts';

type AddAdminCommand = (name: string, summary: string) => Command;

export const addAdmin: AddCommand = ({ program, context, run }) => {
  const admin = program.command('admin').description('create organizations and tokens, connect Git hosts');
  // Passed on as typed: the service parses it again, with its own configuration.
  const add: AddAdminCommand = (name, summary) => {
    const command = admin.command(name).description(summary);
    run(command, () => context.service(context.args));
    return command;
  };

  withExamples(
    add('create-organization', 'create an organization')
      .argument('<slug>', 'a-z, 0-9 and dashes')
      .option('--name <name>', 'display name (default: the slug)')
      .option('--cell <cell>', 'cell that stores it (default: the first)'),
    {
      line: 'signalbox admin create-organization globex --name Globex',
      does: 'create the organization globex',
    },
  );
  withExamples(
    add('create-token', 'create an API token; it is shown once')
      .argument('<slug>', 'organization slug')
      .option('--name <name>', 'what the token is for (default: token)')
      .option('--scopes <scopes>', 'comma-separated: read, submit, admin, upload (default: all)')
      .option('--expires-in-days <days>', 'days until the token expires (default: never)')
      .option(
        '--repositories <names>',
        'comma-separated host/owner/name; required if upload is the only scope',
      ),
    {
      line: 'signalbox admin create-token acme --name forks --scopes upload --repositories github.com/acme/widgets',
      does: 'create a token that can only upload reports of one repository',
    },
  );
  withExamples(
    add('list-tokens', 'list the tokens of an organization').argument('<slug>', 'organization slug'),
    {
      line: 'signalbox admin list-tokens acme',
      does: 'list the id, name, scopes and state of each token',
    },
  );
  withExamples(
    add('revoke-token', 'revoke a token immediately').argument('<id>', 'token id, from list-tokens'),
    {
      line: 'signalbox admin revoke-token 0123456789',
      does: 'revoke the token and every dashboard session that was started with it',
    },
  );
  addConnections(add);
};

function addConnect(connect: Command): void {
  connect
    .argument('<slug>', 'organization slug')
    .addOption(
      restrictToChoices(
        new Option('--kind <kind>', 'kind of Git host; use gitea for Forgejo'),
        hostKindNames,
      ),
    )
    .option('--url <url>', 'URL of the Git host')
    .option('--host <name>', 'host name used in repository names, if it differs from --url')
    .addHelpText('after', '\nUse - as a file name for standard input.');
  for (const { name, value, text } of listConnectOptions()) connect.option(`--${name} <${value}>`, text);
  withExamples(connect, {
    line: 'signalbox admin connect acme --kind gitea --url http://localhost:3000 --token-file token',
    does: 'connect to a Gitea server',
  });
}

function addConnections(add: AddAdminCommand): void {
  addConnect(add('connect', 'connect an organization to a Git host'));
  withExamples(
    add('list-connections', 'list the Git hosts that an organization is connected to').argument(
      '<slug>',
      'organization slug',
    ),
    { line: 'signalbox admin list-connections acme', does: 'list each connection with its webhook URL' },
  );
  withExamples(
    add('rotate-hook-secret', 'replace the webhook secret of a connection')
      .argument('<slug>', 'organization slug')
      .option('--host <name>', 'Git host, from list-connections')
      .option(
        '--accept-previous-hours <hours>',
        'hours during which the previous secret is still accepted (default: 24)',
      ),
    {
      line: 'signalbox admin rotate-hook-secret acme --host localhost:3000',
      does: 'set a new secret, and print it',
    },
  );
  withExamples(
    add('disconnect', 'remove a connection and its credentials')
      .argument('<slug>', 'organization slug')
      .option('--host <name>', 'Git host, from list-connections'),
    {
      line: 'signalbox admin disconnect acme --host localhost:3000',
      does: 'remove the connection; its queues stop until you connect again',
    },
  );
  withExamples(add('rotate-key', 'encrypt all stored secrets with SIGNALBOX_SECRET_KEY'), {
    line: 'signalbox admin rotate-key',
    does: 'encrypt again every secret that SIGNALBOX_SECRET_KEY_PREVIOUS can decrypt',
  });
}
