// `signalbox completion`: prints the script by which a shell completes commands, options and choices.

import { Argument } from 'commander';
import { type AddCommand, withExamples } from './command.ts';
import { restrictToChoices } from './suggestion.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export const addCompletion: AddCommand = ({ program, run }) => {
  const completion = program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(restrictToChoices(new Argument('<shell>', 'shell'), shells));
  withExamples(
    completion,
    {
      line: 'source <(signalbox completion bash)',
      does: 'enable completion in this shell; add it to ~/.bashrc for every shell',
    },
    {
      line: 'signalbox completion zsh',
      does: 'print the script; save it as _signalbox in a folder of $fpath',
    },
    {
      line: 'signalbox completion fish',
      does: 'print the script; save it as ~/.config/fish/completions/signalbox.fish',
    },
  );
  run(completion, async ({ args: [shell] }) => {
    const { completionFor } = await import('./completion-script.ts');
    process.stdout.write(completionFor(shell as Shell, program));
    return 0;
  });
};
