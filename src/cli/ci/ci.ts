// `signalbox test` and `signalbox upload`, for the machines of CI.

import { type AddCommand, withExamples } from '../command.ts';
import { withCiOptions, withJudgeOptions } from './ci-options.ts';

export const addCi: AddCommand = ({ program, context, run }) => {
  const test = withJudgeOptions(withCiOptions(program.command('test')))
    .summary('run tests, send their reports, and tell flaky from broken from new')
    .description(
      'Runs the command, sends the test reports that it wrote, and says of each failed test whether it is flaky, broken already, or new. Without --junit, reports are looked for in the usual places.',
    )
    .argument('<command...>', 'what runs the tests; write -- before it')
    // What follows the command is the command's own.
    .passThroughOptions()
    .addHelpText(
      'after',
      "\nEnds with the command's exit code. It becomes 0 only if every failed test is quarantined and the reports are\ncomplete. Nothing that goes wrong with Signalbox changes it.",
    );
  withExamples(
    test,
    { line: 'signalbox test -- npm test', does: 'runs the tests and judges what failed' },
    { line: "signalbox test --junit 'out/*.xml' -- npm test", does: 'takes the reports in out/' },
  );
  run(test, async (given) => (await import('./test.ts')).test(context, given));

  const upload = withCiOptions(program.command('upload'))
    .description('send test reports that are already there')
    .option('--json', 'the answer of the service as JSON, in place of the summary')
    .option('--allow-failure', 'end with 0 even if nothing could be sent');
  withExamples(
    upload,
    { line: 'signalbox upload', does: 'sends the reports in the usual places' },
    { line: "signalbox upload --junit 'out/*.xml' --variant linux", does: 'sends those in out/' },
  );
  run(upload, async (given) => (await import('./upload.ts')).upload(context, given));
};
