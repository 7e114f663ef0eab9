// What a way of landing guarantees, and which rules of the branch are in its way.

import { type Finding, right, warning, wrong } from './finding.ts';
import type { DoctorInput } from './doctor-input.ts';
import type { ActiveRule } from './rule.ts';

const quoted = (names: readonly string[]): string => names.map((name) => `“${name}”`).join(', ');

/** The rule of required checks binds Signalbox: the host itself enforces them. */
const bindsToChecks = (rules: readonly ActiveRule[]): boolean =>
  rules.some(
    ({ name, isBypassed }) => /^required_status_checks$|^enable_status_check$/.test(name) && !isBypassed,
  );

export function guaranteeFindings(input: DoctorInput): Finding[] {
  return input.lands === 'host' ? mergeCallFindings(input) : pushFindings(input);
}

function pushFindings({ queue, isShownAsMerged, inspection, rules }: DoctorInput): Finding[] {
  const { targetBranch: branch, settings } = queue;
  const findings = [
    right(
      `Signalbox pushes the tested commits by compare-and-swap: through the queue, ${branch} only gets tested commits, even if other accounts may push to it.`,
    ),
  ];
  if (!isShownAsMerged)
    findings.push(
      right(
        `With mergeMethod ${settings.mergeMethod} the Git host does not show a pushed pull request as merged: Signalbox closes it, with a comment that names its commit.`,
      ),
    );
  const waits = settings.requiredStatuses;
  const more = (inspection.protection?.requiredChecks ?? []).filter(
    (name) => waits?.includes(name) === false,
  );
  if (more.length > 0 && bindsToChecks(rules))
    findings.push(
      wrong(
        `The protection of ${branch} requires ${quoted(more)}, and the queue does not wait for it: the Git host would refuse the push.`,
        'Add it to requiredStatuses of the queue, or delete that setting (deleteRequiredStatuses) so that the protection applies.',
      ),
    );
  return findings;
}

function mergeCallFindings({ queue, inspection, rules }: DoctorInput): Finding[] {
  const { targetBranch: branch } = queue;
  const findings = [
    right(
      `Signalbox uses the merge call of the Git host: it compares the tree with the tested one before and after each pull request, which is exact as long as no other account may update ${branch}.`,
    ),
  ];
  const close =
    'Add a ruleset for the branch with “Restrict updates” and Signalbox alone on its bypass list (classic protection: restrict who can push to Signalbox, for administrators too). Or set landingMode to fast_forward, which is always exact.';
  if (inspection.othersMayUpdate === true)
    findings.push(
      wrong(
        `Other accounts may update ${branch}: Signalbox notices a push between two steps of a landing and stops, but one pull request may already have merged untested with it.`,
        close,
      ),
    );
  else if (inspection.othersMayUpdate === null)
    findings.push(
      warning(
        `The Git host does not show Signalbox who else may update ${branch}.`,
        `Check it yourself. ${close}`,
      ),
    );
  else findings.push(right(`Only Signalbox may update ${branch}.`));
  const silent = (inspection.protection?.requiredChecks ?? []).filter(
    (name) => !inspection.recentHeadChecks.includes(name),
  );
  if (silent.length > 0 && bindsToChecks(rules))
    findings.push(
      wrong(
        `The merge call of the Git host requires ${quoted(silent)} on the head of the pull request as well, and no recent pull request has it: the Git host would refuse to merge after the tests have passed.`,
        'Let CI run it for pull requests too, or require it in a ruleset that Signalbox may bypass.',
      ),
    );
  return findings;
}

export function ruleFindings({ rules, lands, inspection }: DoctorInput): Finding[] {
  const named = ({ name, where }: ActiveRule) => `${name} of ${where}`;
  const refused = rules.filter(({ handling }) => handling === 'refused');
  const findings = refused.flatMap((rule): readonly Finding[] => {
    if (rule.isBroken)
      return [
        wrong(
          `Nothing can merge under ${named(rule)}. ${rule.why}`,
          'Change mergeMethod of the queue, or the rule.',
        ),
      ];
    if (rule.isBypassed)
      return [
        wrong(
          `Signalbox may bypass ${named(rule)} and cannot check it, so it merges nothing. ${rule.why}`,
          'Remove the rule, or take Signalbox off its bypass list; a ruleset of its own for the rules that Signalbox must bypass keeps the others in force.',
        ),
      ];
    const isShut = inspection.protection?.letsUsPush === false;
    return lands === 'host' || isShut
      ? []
      : [
          warning(
            `The Git host enforces ${named(rule)} on every push of Signalbox: a pull request that breaks the rule stops the queue when it merges.`,
            'Follow the rule in pull requests too, or set landingMode to host.',
          ),
        ];
  });
  return rules.length > 0 && findings.length === 0
    ? [right(`The Git host enforces or Signalbox checks every rule of the branch: ${names(rules)}.`)]
    : findings;
}

const names = (rules: readonly ActiveRule[]): string =>
  [...new Set(rules.map(({ name }) => name))].join(', ');
