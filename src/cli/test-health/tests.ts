// `signalbox tests`: the health of tests, their quarantine, and the settings of both.

import { type Command, Option } from 'commander';
import { withConnection, withJson } from '../client/connection.ts';
import { withRepository } from '../client/place.ts';
import { type AddCommand, withExamples } from '../command.ts';
import { parseSpan } from '../parse-span.ts';
import { restrictToChoices } from '../suggestion.ts';

const repo = '--repo sandbox.example/acme/widgets';
const nameText = 'id of the test, or a part of its name that no other test has';

export const addTests: AddCommand = ({ program, context, run }) => {
  const tests = program
    .command('tests')
    .description('list flaky and broken tests, show one, quarantine it, change settings');
  const add = (name: string, summary: string): Command =>
    withJson(withConnection(withRepository(tests.command(name).description(summary))));

  const unhealthy = add(
    'unhealthy',
    'list flaky and broken tests, those that affect most pull requests first',
  )
    .addOption(
      restrictToChoices(new Option('--status <status>', 'only tests with this status'), ['flaky', 'broken']),
    )
    .option('--search <text>', 'only tests with every part of the text in their name, file or class')
    .option('--owner <owner>', 'only tests of this code owner')
    .option('--quarantined', 'only quarantined tests, including healthy ones');
  withExamples(
    unhealthy,
    { line: `signalbox tests unhealthy ${repo}`, does: 'list flaky and broken tests' },
    {
      line: `signalbox tests unhealthy ${repo} --status broken --search cart`,
      does: 'list broken tests of the cart',
    },
    {
      line: `signalbox tests unhealthy ${repo} --quarantined`,
      does: 'list quarantined tests and how many pull requests each quarantine unblocked',
    },
  );
  run(unhealthy, async (given) => (await import('./tests-action.ts')).listUnhealthy(context, given));

  const show = add(
    'show',
    'show the status of one test, its failures, and the pull requests it affected',
  ).argument('<test>', nameText);
  withExamples(show, {
    line: `signalbox tests show 'removes an item' ${repo}`,
    does: 'show the test with this text in its name',
  });
  run(show, async (given) => (await import('./tests-action.ts')).showTest(context, given));

  const quarantine = add(
    'quarantine',
    'quarantine a test; its failures are reported but no longer fail the job',
  )
    .argument('<test>', nameText)
    .option(
      '--for <time>',
      'end the quarantine after this time, for example 12h or 14d (default: the days of the settings)',
      parseSpan,
    )
    .option('--owner <name>', 'who is responsible for fixing the test')
    .option('--note <text>', 'reason, shown with the test');
  withExamples(quarantine, {
    line: `signalbox tests quarantine 'removes an item' ${repo} --for 14d --owner ada --note 'waits for a fix'`,
    does: 'quarantine the test for two weeks',
  });
  run(quarantine, async (given) => (await import('./tests-action.ts')).quarantineTest(context, given));

  const unquarantine = add('unquarantine', 'end the quarantine of a test')
    .argument('<test>', nameText)
    .option('--never', 'never quarantine this test automatically')
    .option('--note <text>', 'reason, shown with the test');
  withExamples(unquarantine, {
    line: `signalbox tests unquarantine 'removes an item' ${repo}`,
    does: 'end the quarantine; the status of the test decides again',
  });
  run(unquarantine, async (given) => (await import('./tests-action.ts')).unquarantineTest(context, given));

  addVerifyFix(add, { program, context, run });
  addRename(add, { program, context, run });
  addSettings(add, { program, context, run });
};

type AddTestCommand = (name: string, summary: string) => Command;

function addVerifyFix(add: AddTestCommand, { context, run }: Parameters<AddCommand>[0]): void {
  const verify = add('verify-fix', 'have CI repeat a test that was fixed, until that is shown or refuted')
    .argument('<test>', nameText)
    .option(
      '--fix <sha>',
      'commit of the fix, as it is on the default branch; the runs wait for it (default: it is there already)',
    )
    .option('--cancel', 'end the verification')
    .addHelpText(
      'after',
      '\nRuns are started only in slots of the queue that no pull request needs. signalbox tests show shows the state.',
    );
  withExamples(
    verify,
    { line: `signalbox tests verify-fix 'removes an item' ${repo}`, does: 'verify that the test is fixed' },
    { line: `signalbox tests verify-fix 'removes an item' ${repo} --cancel`, does: 'end the verification' },
  );
  run(verify, async (given) => (await import('./verify-fix-action.ts')).verifyFix(context, given));
}

function addRename(add: AddTestCommand, { context, run }: Parameters<AddCommand>[0]): void {
  const rename = add('rename', 'confirm or state that a test was renamed, or undo it')
    .argument('<test>', nameText)
    .option(
      '--from <test>',
      'the former test: its id or name (default: the former name that Signalbox found)',
    )
    .option('--undo', 'they are two tests: take back what was carried over, and never join them again');
  withExamples(
    rename,
    {
      line: `signalbox tests rename 'removes an item' ${repo} --from 'deletes an item'`,
      does: 'carry over the history and the quarantine of the former test',
    },
    {
      line: `signalbox tests rename 'removes an item' ${repo} --undo`,
      does: 'separate the test from its former name',
    },
  );
  run(rename, async (given) => (await import('./tests-action.ts')).renameTest(context, given));
}

function addSettings(add: AddTestCommand, { context, run }: Parameters<AddCommand>[0]): void {
  const settings = add('settings', 'show the test-health settings of a repository');
  withExamples(settings, { line: `signalbox tests settings ${repo}`, does: 'show every setting' });
  run(settings, async (given) => (await import('./settings-action.ts')).showSettings(context, given));

  const set = add('set', 'change the named test-health settings of a repository, or try them first')
    .argument('<key=value...>', 'settings, for example monitors.pass_on_retry.sources_min=3')
    .option('--try', 'save nothing; show what the settings would have changed in the last 14 days')
    .addHelpText('after', '\nsignalbox tests settings lists the settings and their values.');
  withExamples(
    set,
    {
      line: `signalbox tests set ${repo} monitors.pass_on_retry.sources_min=3 --try`,
      does: 'show which tests would have been flaky, broken or quarantined',
    },
    {
      line: `signalbox tests set ${repo} quarantine.enabled=on`,
      does: 'quarantine flaky tests from now on',
    },
  );
  run(set, async (given) => (await import('./settings-action.ts')).setSettings(context, given));
}
