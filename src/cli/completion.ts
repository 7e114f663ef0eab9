// `signalbox completion`: what a shell needs to complete commands, options and choices.

import { Argument } from 'commander';
import { type AddCommand, withExamples } from './command.ts';
import { oneOf } from './suggestion.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export const addCompletion: AddCommand = ({ program, run }) => {
  const completion = program
    .command('completion')
    .description('print the completions of a shell')
    .addArgument(oneOf(new Argument('<shell>', 'which one'), shells));
  withExamples(
    completion,
    { line: 'source <(signalbox completion bash)', does: 'for this shell; in ~/.bashrc for every one' },
    { line: 'signalbox completion zsh', does: 'to be kept as _signalbox in a folder of $fpath' },
    { line: 'signalbox completion fish', does: 'to be kept as ~/.config/fish/completions/signalbox.fish' },
  );
  run(completion, async ({ args: [shell] }) => {
    const { completionFor } = await import('./completion-script.ts');
    process.stdout.write(completionFor(shell as Shell, program));
    return 0;
  });
};
