// The commands of the service itself: they need its configuration and its database, so they are handed on.

import { type AddCommand, withExamples } from '../command.ts';

const serviceCommands = {
  start: ['migrate the databases, then serve the API and work on jobs, in one process', 'all in one process'],
  serve: ['serve the API', 'any number of these may run, on a database that is migrated'],
  work: ['work on jobs', 'any number of these may run'],
  migrate: ['bring the databases to the present schema', 'before a new version is started'],
} as const;

export const addService: AddCommand = ({ program, context, run }) => {
  for (const [name, [description, does]] of Object.entries(serviceCommands)) {
    const command = program.command(name).description(description);
    command.addHelpText('after', '\nConfigured by the environment: see docs/reference/config.md.');
    withExamples(command, { line: `signalbox ${name}`, does });
    run(command, () => context.service([name]));
  }
  const doctor = program
    .command('doctor')
    .description('say what is right and what is wrong with a repository at its host')
    .argument('<slug>', 'the organization')
    .requiredOption('--repo <host/owner/name>', 'the repository')
    .option('--branch <name>', 'the branch of its queue, default main')
    .option('--json', 'the findings as JSON')
    .addHelpText('after', '\nEnds with 1 if something is wrong.');
  withExamples(doctor, {
    line: 'signalbox doctor acme --repo localhost:3000/acme/widgets --branch main',
    does: 'checks access, webhook, protection and checks, and says how to mend each',
  });
  // As it was typed.
  run(doctor, () => context.service(context.args));
};
