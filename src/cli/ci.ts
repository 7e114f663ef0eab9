// `signalbox test` and `signalbox upload`, for the machines of CI.

import type { AddCommand } from './command.ts';
import { test } from './test.ts';
import { upload } from './upload.ts';

export const addCi: AddCommand = ({ program, context, run }) => {
  const add = (name: string, does: string, act: typeof test) => {
    const command = program
      .command(name)
      .description(does)
      .argument('[args...]')
      .allowUnknownOption()
      .helpOption(false)
      .passThroughOptions();
    // As typed: what follows -- is a command of its own.
    run(command, () => act(context, context.args.slice(1)));
  };
  add('test', 'run tests, send their reports, and tell flaky from broken from new', test);
  add('upload', 'send test reports that are already there', upload);
};
