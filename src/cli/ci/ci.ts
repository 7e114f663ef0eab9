// `signalbox test`, `signalbox upload` and `signalbox split`, for use in CI jobs.

import { type AddCommand, withExamples } from '../command.ts';
import { withCiOptions, withExitCodeOptions, withServiceOptions } from './ci-options.ts';

export const addCi: AddCommand = ({ program, context, run }) => {
  const test = withExitCodeOptions(withCiOptions(program.command('test')))
    .summary('run tests, upload their reports, and show which failures are new, flaky or already broken')
    .description(
      'Runs the command, uploads the test reports that it wrote, and shows for each failed test whether the failure is new, flaky or already broken on the default branch. Without --junit, Signalbox searches the usual places for reports.',
    )
    .argument('<command...>', 'command that runs the tests, after --')
    // Options after the command belong to the command.
    .passThroughOptions()
    .addHelpText(
      'after',
      "\nExits with the command's exit code. It becomes 0 only if every failed test is quarantined and the reports are\ncomplete. A problem with Signalbox never changes the exit code.",
    );
  withExamples(
    test,
    { line: 'signalbox test -- npm test', does: 'run the tests and classify their failures' },
    { line: "signalbox test --junit 'out/*.xml' -- npm test", does: 'upload the reports in out/' },
  );
  run(test, async (given) => (await import('./test.ts')).test(context, given));

  const upload = withCiOptions(program.command('upload'))
    .description('upload existing test reports')
    .option('--json', 'print the answer of the service as JSON instead of the summary')
    .option('--allow-failure', 'exit with status 0 even if the upload fails');
  withExamples(
    upload,
    { line: 'signalbox upload', does: 'upload the reports in the usual places' },
    {
      line: "signalbox upload --junit 'out/*.xml' --variant linux",
      does: 'upload the reports in out/ as results on Linux',
    },
  );
  run(upload, async (given) => (await import('./upload.ts')).upload(context, given));

  const split = withServiceOptions(program.command('split'))
    .summary('divide test files among the shards of a CI job, by how long they take')
    .description(
      'Prints the test files of one shard, one on each line. The files are divided so that the longest shard is short, by the durations of earlier reports. Files without a duration count as the median of the others.',
    )
    .argument('[files...]', 'files, or quoted globs (default: the lines of standard input)')
    .option('--shards <count>', 'number of shards (default: from GitLab, CircleCI or Buildkite)')
    .option('--shard <number>', 'the shard of this job, from 1 (default: from GitLab, CircleCI or Buildkite)')
    .option('--strict', 'fail if the service does not answer, instead of dividing the files by count')
    .addHelpText(
      'after',
      '\nPackages of Go and classes can be listed in place of files. Every shard of a run must list the same files.',
    );
  withExamples(
    split,
    {
      line: "signalbox split --shards 4 --shard 2 'tests/**/test_*.py'",
      does: 'print the files of the second of four shards',
    },
    {
      line: "find tests -name 'test_*.py' | signalbox split --shards 4 --shard 2",
      does: 'divide the files that another command lists',
    },
  );
  run(split, async (given) => (await import('./split.ts')).split(context, given));
};
