// `signalbox targets upload`: sends the targets that a pull request impacts, for queues with parallel lanes.

import { Option } from 'commander';
import { withConnection, withJson } from '../client/connection.ts';
import { withQueue } from '../client/place.ts';
import { withPullRequest } from '../client/pull-request-place.ts';
import { type AddCommand, withExamples } from '../command.ts';

const where = '--repo sandbox.example/acme/widgets';

export const addTargets: AddCommand = ({ program, context, run }) => {
  const targets = program.command('targets').description('set the impacted targets of a pull request');
  const sources = ['from', 'bazel', 'nx', 'turbo', 'all'];
  const source = (flags: string, does: string, own: string): Option =>
    new Option(flags, does).conflicts(sources.filter((name) => name !== own));
  const upload = withJson(withConnection(withQueue(withPullRequest(targets.command('upload')))))
    .summary('upload the targets that a pull request impacts')
    .description(
      'Uploads the targets that a pull request impacts, for a queue in parallel mode. Without a source, the files that changed since the merge base are matched with the targets in .signalbox.yaml.',
    )
    .addOption(source('--from <file>', 'file with one target per line, - for standard input', 'from'))
    .addOption(source('--bazel <file>', 'output of bazel query, bazel-diff or target-determinator', 'bazel'))
    .addOption(source('--nx <file>', 'output of nx show projects --affected --json', 'nx'))
    .addOption(source('--turbo <file>', 'output of turbo run build --affected --dry=json', 'turbo'))
    .addOption(source('--all', 'the pull request impacts every target', 'all'))
    .option('--base <ref>', 'ref to compute the merge base with (default: origin/ and the target branch)')
    .option('--sha <sha>', 'commit the targets apply to (default: PR head from CI, or the current checkout)')
    .option('--allow-empty', 'allow an empty list of targets')
    .option('--dry-run', 'show the targets without uploading them');
  withExamples(
    upload,
    { line: `signalbox targets upload 12 ${where} --all`, does: 'pull request 12 impacts every target' },
    {
      line: `printf '//cart:lib\\n//web:app\\n' | signalbox targets upload 12 ${where} --bazel -`,
      does: 'upload two Bazel labels',
    },
    { line: `signalbox targets upload 12 ${where} --from targets.txt`, does: 'upload the targets in a file' },
  );
  run(upload, async (given) => (await import('./targets-action.ts')).uploadTargets(context, given));
};
