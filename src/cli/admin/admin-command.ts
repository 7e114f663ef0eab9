// `signalbox admin`, as it is typed. It is performed where the database is: admin.ts.

import { type Command, Option } from 'commander';
import { type AddCommand, withExamples } from '../command.ts';
import { oneOf } from '../suggestion.ts';

export const addAdmin: AddCommand = ({ program, context, run }) => {
  const admin = program.command('admin').description('create organizations and tokens, connect hosts');
  // Handed on as it was typed: the service reads it once more, with its own configuration beside.
  const add = (name: string, summary: string): Command => {
    const command = admin.command(name).description(summary);
    run(command, () => context.service(context.args));
    return command;
  };

  withExamples(
    add('create-organization', 'create an organization')
      .argument('<slug>', 'a-z, 0-9 and dashes')
      .option('--name <name>', 'as people read it')
      .option('--cell <cell>', 'the database it lives in; else the first'),
    { line: 'signalbox admin create-organization globex --name Globex', does: 'creates globex' },
  );
  withExamples(
    add('create-token', 'create an API token; it is shown once')
      .argument('<slug>', 'the organization')
      .option('--name <name>', 'what it is for')
      .option('--scopes <scopes>', 'of read, submit, admin and upload, with commas; else all')
      .option('--expires-in-days <days>', 'else it holds until it is revoked')
      .option(
        '--repositories <names>',
        'host/owner/name, with commas; needed where the only scope is upload',
      ),
    {
      line: 'signalbox admin create-token acme --name forks --scopes upload --repositories github.com/acme/widgets',
      does: 'a token that can only send reports of one repository',
    },
  );
  withExamples(
    add('list-tokens', 'list the tokens of an organization').argument('<slug>', 'the organization'),
    {
      line: 'signalbox admin list-tokens acme',
      does: 'with the id of each, and never the token itself',
    },
  );
  withExamples(add('revoke-token', 'end a token at once').argument('<id>', 'as list-tokens shows it'), {
    line: 'signalbox admin revoke-token 0123456789',
    does: 'ends it, and the sessions made with it',
  });
  addConnect(add('connect', 'connect an organization to a host'));
  withExamples(
    add('list-connections', 'list the Git hosts that an organization is connected to').argument(
      '<slug>',
      'the organization',
    ),
    { line: 'signalbox admin list-connections acme', does: 'with the webhook address of each' },
  );
  withExamples(
    add('rotate-hook-secret', 'replace the secret of the webhooks of a connection')
      .argument('<slug>', 'the organization')
      .option('--host <name>', 'the Git host, as list-connections shows it')
      .option('--accept-previous-hours <hours>', 'how long the secret before is accepted (default: 24)'),
    { line: 'signalbox admin rotate-hook-secret acme --host localhost:3000', does: 'prints the new secret' },
  );
  withExamples(
    add('disconnect', 'remove a connection with its credentials')
      .argument('<slug>', 'the organization')
      .option('--host <name>', 'the Git host, as list-connections shows it'),
    { line: 'signalbox admin disconnect acme --host localhost:3000', does: 'its queues wait from then on' },
  );
  withExamples(add('rotate-key', 'encrypt all stored secrets with SIGNALBOX_SECRET_KEY'), {
    line: 'signalbox admin rotate-key',
    does: 'also those that SIGNALBOX_SECRET_KEY_PREVIOUS decrypts',
  });
};

function addConnect(connect: Command): void {
  connect
    .argument('<slug>', 'the organization')
    .addOption(oneOf(new Option('--kind <kind>', 'what the host is; Forgejo is gitea'), ['gitea', 'github']))
    .option('--url <url>', 'where the host is')
    .option('--host <name>', 'if repositories are named by another host name than that of the address')
    .option('--token-file <file>', 'Gitea: file with the token of the account')
    .option(
      '--oauth-file <file>',
      'Gitea: clientId, clientSecret, accessToken, refreshToken, expiresAt as JSON',
    )
    .option('--app-id <n>', 'GitHub: of the app')
    .option('--installation-id <n>', 'GitHub: of its installation')
    .option('--private-key-file <file>', 'GitHub: of the app')
    .addHelpText('after', '\nA file may be - for standard input.');
  withExamples(connect, {
    line: 'signalbox admin connect acme --kind gitea --url http://localhost:3000 --token-file token',
    does: 'connects to a Gitea, and says what webhook to add there',
  });
}
