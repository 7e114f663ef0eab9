// `signalbox tests`: the health of tests, and their quarantine.

import { type Command, Option } from 'commander';
import { withConnection, withJson } from '../client/connection.ts';
import { withRepository } from '../client/place.ts';
import { type AddCommand, withExamples } from '../command.ts';
import { parseSpan } from '../parse-span.ts';
import { oneOf } from '../suggestion.ts';

const repo = '--repo sandbox.example/acme/widgets';
const nameText = 'its id, or words of its name that no other test has';

export const addTests: AddCommand = ({ program, context, run }) => {
  const tests = program.command('tests').description('list unhealthy tests, look at one, quarantine it');
  const add = (name: string, summary: string): Command =>
    withJson(withConnection(withRepository(tests.command(name).description(summary))));

  const unhealthy = add('unhealthy', 'list flaky and broken tests, those that hit most pull requests first')
    .addOption(oneOf(new Option('--status <status>', 'only these'), ['flaky', 'broken']))
    .option('--search <words>', 'only tests with every word in their name, file or class')
    .option('--owner <owner>', 'only tests of this code owner')
    .option('--quarantined', 'only those that are quarantined, also healthy ones');
  withExamples(
    unhealthy,
    { line: `signalbox tests unhealthy ${repo}`, does: 'flaky and broken ones' },
    {
      line: `signalbox tests unhealthy ${repo} --status broken --search cart`,
      does: 'broken ones of the cart',
    },
    {
      line: `signalbox tests unhealthy ${repo} --quarantined`,
      does: 'what is quarantined, and what that spared',
    },
  );
  run(unhealthy, async (given) => (await import('./tests-action.ts')).listUnhealthy(context, given));

  const show = add('show', 'show one test: its health and why, how it fails, whom it hit').argument(
    '<test>',
    nameText,
  );
  withExamples(show, {
    line: `signalbox tests show 'removes an item' ${repo}`,
    does: 'by words of its name',
  });
  run(show, async (given) => (await import('./tests-action.ts')).showTest(context, given));

  const quarantine = add('quarantine', 'let the failures of a test not fail a run')
    .argument('<test>', nameText)
    .option(
      '--for <time>',
      'then it is judged by its health again, such as 12h or 14d; else for good',
      parseSpan,
    )
    .option('--owner <name>', 'who looks after it meanwhile')
    .option('--note <text>', 'why');
  withExamples(quarantine, {
    line: `signalbox tests quarantine 'removes an item' ${repo} --for 14d --owner ada --note 'waits for a fix'`,
    does: 'for two weeks',
  });
  run(quarantine, async (given) => (await import('./tests-action.ts')).quarantineTest(context, given));

  const unquarantine = add('unquarantine', 'end the quarantine of a test')
    .argument('<test>', nameText)
    .option('--never', 'and do not let it be quarantined by itself again')
    .option('--note <text>', 'why');
  withExamples(unquarantine, {
    line: `signalbox tests unquarantine 'removes an item' ${repo}`,
    does: 'its health decides again',
  });
  run(unquarantine, async (given) => (await import('./tests-action.ts')).unquarantineTest(context, given));
};
