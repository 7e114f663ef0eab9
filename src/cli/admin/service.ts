// The commands of the service: they need its configuration and database, so the service runs them.

import { type AddCommand, withExamples } from '../command.ts';

const serviceCommands = {
  start: [
    'migrate the databases, then run the API and a worker in one process',
    'run everything in one process',
  ],
  serve: ['run the API', 'run one of any number of API processes, on a migrated database'],
  work: ['run a worker', 'run one of any number of workers'],
  migrate: ['migrate the databases to the current schema', 'run this before you start a new version'],
} as const;

export const addService: AddCommand = ({ program, context, run }) => {
  for (const [name, [description, does]] of Object.entries(serviceCommands)) {
    const command = program.command(name).description(description);
    command.addHelpText('after', '\nEnvironment variables configure it: see docs/reference/config.md.');
    withExamples(command, { line: `signalbox ${name}`, does });
    run(command, () => context.service([name]));
  }
  const doctor = program
    .command('doctor')
    .description('check permissions, webhook and branch rules of a repository')
    .argument('<slug>', 'organization slug')
    .requiredOption('--repo <host/owner/name>', 'the repository')
    .option('--branch <name>', 'target branch of the queue (default: main)')
    .option('--json', 'print the result of each check as JSON')
    .option('--propose-triggers', 'open a pull request that makes the workflows run for test branches')
    .addHelpText('after', '\nExits with status 1 if a check failed.');
  withExamples(doctor, {
    line: 'signalbox doctor acme --repo localhost:3000/acme/widgets --branch main',
    does: 'check access, webhook, branch protection and required checks, and print how to fix each problem',
  });
  // The service parses the arguments again.
  run(doctor, () => context.service(context.args));
};
