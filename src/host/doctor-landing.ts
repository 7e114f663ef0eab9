// What a way of landing guarantees, and which rules of the branch are in its way.

import { type Finding, right, warning, wrong } from './finding.ts';
import type { Patient } from './doctor.ts';
import type { ActiveRule } from './rule.ts';

const quoted = (names: readonly string[]): string => names.map((name) => `“${name}”`).join(', ');

/** The rule of required checks binds us: the host itself asks for them. */
const bindsToChecks = (rules: readonly ActiveRule[]): boolean =>
  rules.some(
    ({ name, isBypassed }) => /^required_status_checks$|^enable_status_check$/.test(name) && !isBypassed,
  );

export function guaranteeFindings(patient: Patient): Finding[] {
  return patient.lands === 'host' ? mergeCallFindings(patient) : pushFindings(patient);
}

function pushFindings({ queue, isShownAsMerged, inspection, rules }: Patient): Finding[] {
  const { targetBranch: branch, settings } = queue;
  const findings = [
    right(
      `Landing pushes the tested commits by compare-and-swap: ${branch} never gets anything that was not tested, also where other accounts may push to it.`,
    ),
  ];
  if (!isShownAsMerged)
    findings.push(
      right(
        `With mergeMethod ${settings.mergeMethod} the host does not show a pushed pull request as merged: it is closed, with a comment that names its commit.`,
      ),
    );
  const waits = settings.requiredStatuses;
  const more = (inspection.protection?.requiredChecks ?? []).filter(
    (name) => waits?.includes(name) === false,
  );
  if (more.length > 0 && bindsToChecks(rules))
    findings.push(
      wrong(
        `The protection of ${branch} requires ${quoted(more)}, and the queue does not wait for it: the host would refuse the push.`,
        'Add it to requiredStatuses of the queue, or delete that setting (deleteRequiredStatuses) so that the protection counts.',
      ),
    );
  return findings;
}

function mergeCallFindings({ queue, inspection, rules }: Patient): Finding[] {
  const { targetBranch: branch } = queue;
  const findings = [
    right(
      `Landing uses the host’s merge call: the tree is compared with the tested one before and after each pull request, and is exact as long as no other account may update ${branch}.`,
    ),
  ];
  const close =
    'Add a ruleset for the branch with “Restrict updates” and Signalbox alone on its bypass list (classic protection: restrict who can push to Signalbox, for administrators too). Or set landingMode to fast_forward, which is exact in any case.';
  if (inspection.othersMayUpdate === true)
    findings.push(
      wrong(
        `Others than Signalbox may update ${branch}: what they push between two steps of a landing is noticed, and the landing stops, but one pull request may have landed on it untested.`,
        close,
      ),
    );
  else if (inspection.othersMayUpdate === null)
    findings.push(
      warning(
        `The host does not show Signalbox who else may update ${branch}.`,
        `Check it yourself. ${close}`,
      ),
    );
  else findings.push(right(`No account but Signalbox may update ${branch}.`));
  const silent = (inspection.protection?.requiredChecks ?? []).filter(
    (name) => !inspection.recentHeadChecks.includes(name),
  );
  if (silent.length > 0 && bindsToChecks(rules))
    findings.push(
      wrong(
        `The merge call of the host asks for ${quoted(silent)} on the head of the pull request as well, and no pull request had it lately: the host would refuse to merge after the tests have passed.`,
        'Let CI run it for pull requests too, or require it in a ruleset that Signalbox may bypass.',
      ),
    );
  return findings;
}

export function ruleFindings({ rules, lands, inspection }: Patient): Finding[] {
  const named = ({ name, where }: ActiveRule) => `${name} of ${where}`;
  const refused = rules.filter(({ handling }) => handling === 'refused');
  const findings = refused.flatMap((rule): readonly Finding[] => {
    if (rule.isBroken)
      return [
        wrong(
          `Nothing can land under ${named(rule)}. ${rule.why}`,
          'Change mergeMethod of the queue, or the rule.',
        ),
      ];
    if (rule.isBypassed)
      return [
        wrong(
          `Signalbox may bypass ${named(rule)} and cannot check it, so it lands nothing. ${rule.why}`,
          'Remove the rule, or take Signalbox off its bypass list; a ruleset of its own for the rules that Signalbox must bypass keeps the others in force.',
        ),
      ];
    const isShut = inspection.protection?.letsUsPush === false;
    return lands === 'host' || isShut
      ? []
      : [
          warning(
            `The host holds every push of Signalbox to ${named(rule)}: what breaks the rule stops the queue when it would land.`,
            'Keep to it in pull requests too, or set landingMode to host.',
          ),
        ];
  });
  return rules.length > 0 && findings.length === 0
    ? [right(`Every rule of the branch is enforced by the host or checked by Signalbox: ${names(rules)}.`)]
    : findings;
}

const names = (rules: readonly ActiveRule[]): string =>
  [...new Set(rules.map(({ name }) => name))].join(', ');
