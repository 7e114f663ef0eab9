// `signalbox targets upload`: says which targets a pull request impacts, for queues that test lanes side by side.

import { Option } from 'commander';
import { withConnection, withJson } from '../client/connection.ts';
import { withQueue } from '../client/place.ts';
import { withPullRequest } from '../client/pull-request-place.ts';
import { type AddCommand, withExamples } from '../command.ts';

const where = '--repo sandbox.example/acme/widgets';

export const addTargets: AddCommand = ({ program, context, run }) => {
  const targets = program.command('targets').description('say what a pull request impacts');
  const sources = ['from', 'bazel', 'nx', 'turbo', 'all'];
  const source = (flags: string, does: string, own: string): Option =>
    new Option(flags, does).conflicts(sources.filter((name) => name !== own));
  const upload = withJson(withConnection(withQueue(withPullRequest(targets.command('upload')))))
    .summary('send the targets that a pull request impacts')
    .description(
      'Sends the targets that a pull request impacts, for a queue in parallel mode. Without a source, the files that changed since the merge base are matched with the targets of .signalbox.yaml.',
    )
    .addOption(source('--from <file>', 'a target on each line; - is standard input', 'from'))
    .addOption(source('--bazel <file>', 'labels of bazel query, bazel-diff or target-determinator', 'bazel'))
    .addOption(source('--nx <file>', 'output of nx show projects --affected --json', 'nx'))
    .addOption(source('--turbo <file>', 'output of turbo run build --affected --dry=json', 'turbo'))
    .addOption(source('--all', 'every target: it is tested with everything', 'all'))
    .option('--base <ref>', 'what the merge base is with; else origin/ and the branch of the queue')
    .option('--sha <sha>', 'the head that they are of; else that of CI or of the checkout')
    .option('--allow-empty', 'send also that nothing is impacted')
    .option('--dry-run', 'show what would be sent, and send nothing');
  withExamples(
    upload,
    { line: `signalbox targets upload 12 ${where} --all`, does: 'it impacts everything' },
    {
      line: `printf '//cart:lib\\n//web:app\\n' | signalbox targets upload 12 ${where} --bazel -`,
      does: 'two labels',
    },
    { line: `signalbox targets upload 12 ${where} --from targets.txt`, does: 'those in a file' },
  );
  run(upload, async (given) => (await import('./targets-action.ts')).uploadTargets(context, given));
};
