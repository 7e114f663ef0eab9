// The commands of the service itself: they need its configuration and its database, so they are handed on.

import type { AddCommand } from './command.ts';

const serviceCommands = {
  start: 'migrate the databases, then serve the API and work on jobs, in one process',
  serve: 'serve the API',
  work: 'work on jobs',
  migrate: 'bring the databases to the present schema',
  admin: 'create organizations and tokens, connect hosts',
  doctor: 'say what is right and what is wrong with a repository at its host',
} as const;

export const addService: AddCommand = ({ program, context, run }) => {
  for (const [name, does] of Object.entries(serviceCommands)) {
    const command = program
      .command(name)
      .description(does)
      .argument('[args...]')
      .allowUnknownOption()
      .helpOption(false)
      .passThroughOptions();
    run(command, () => context.service([name, ...command.args]));
  }
};
