// Checks a repository for a merge queue and gives the exact fix for each fault. Pure: it decides by what the
// host reported (Inspection).

import { checkName } from '#core/queue/text/message.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { DoctorInput } from './doctor-input.ts';
import { guaranteeFindings, ruleFindings } from './doctor-landing.ts';
import { workflowFindings, type WorkflowQuestion } from './doctor-workflow.ts';
import { type Finding, right, warning, wrong } from './finding.ts';
import type { Inspection } from './host.ts';

export function diagnose(input: DoctorInput): readonly Finding[] {
  const { inspection } = input;
  const version = right(`The Git host answers: ${inspection.version}.`);
  if (inspection.own === null)
    return [
      version,
      wrong(
        'Signalbox cannot see the repository.',
        'Check its spelling. Then add the account of Signalbox as a collaborator with write access, or install the App on it.',
      ),
    ];
  if (inspection.own === 'none' || inspection.own === 'read')
    return [
      version,
      wrong(
        `Signalbox may only ${inspection.own === 'none' ? 'see' : 'read'} the repository. It can neither push test branches nor merge.`,
        inspection.fixes.writeAccess,
      ),
    ];
  return [
    version,
    right(`Signalbox may ${inspection.own === 'admin' ? 'administer' : 'write to'} the repository.`),
    ...branchFindings(input),
    ...webhookFindings(input),
    ...checkFindings(input),
    ...ciFindings(input),
    ...landingFindings(input),
    ...ruleFindings(input),
    ...guaranteeFindings(input),
    ...inspection.lost.map((what) =>
      warning(what, 'Give the App the permission that the GitHub guide names.'),
    ),
  ];
}

function branchFindings({ inspection, queue }: DoctorInput): Finding[] {
  const { targetBranch: branch } = queue;
  return [
    inspection.branchExists
      ? right(`The branch ${branch} exists.`)
      : wrong(`There is no branch ${branch}.`, `Push it, or create the queue for a branch that exists.`),
    inspection.testBranchRule === null
      ? right('Test branches (signalbox/…) can be pushed and deleted.')
      : wrong(
          `A branch rule (${inspection.testBranchRule}) keeps Signalbox from creating or deleting test branches.`,
          'Exclude signalbox/** from the rule, or let the account of Signalbox bypass it.',
        ),
  ];
}

/** The events that Signalbox needs, as hosts name them. */
const neededEvents: { readonly [Kind in HostEvent['kind']]: string } = {
  'pull-request-changed': 'pull requests',
  'check-changed': 'statuses and checks',
  'branch-moved': 'pushes',
  'comment-written': 'comments',
  'label-changed': 'labels',
};

function webhookFindings({ inspection, webhookUrls }: DoctorInput): Finding[] {
  if (webhookUrls === null) return [];
  const [webhookUrl] = webhookUrls;
  if (inspection.webhooks === null)
    return [
      warning(
        'Signalbox may not read the webhooks of the repository, so the doctor has not checked them.',
        'Give its account admin rights for this check, or compare the URL of the webhook with the one that `signalbox admin list-connections` prints.',
      ),
    ];
  const own = inspection.webhooks.filter(({ url }) => webhookUrls.includes(url));
  const hook = own.find(({ isActive }) => isActive) ?? own[0];
  if (hook === undefined)
    return [
      wrong(
        'No webhook sends events to Signalbox, so it notices every change only with its next poll.',
        `Give Signalbox the right to set it, and connect the Git host again: Signalbox then sets it. Or add a webhook to ${webhookUrl} with the secret of the connection (\`signalbox admin rotate-hook-secret\` prints a new one), content type application/json, for ${Object.values(neededEvents).join(', ')}.`,
      ),
    ];
  if (!hook.isActive) return [wrong('The webhook to Signalbox is disabled.', 'Enable it.')];
  const missing = Object.entries(neededEvents)
    .filter(([kind]) => !hook.events.includes(kind as HostEvent['kind']))
    .map(([, eventName]) => eventName);
  const findings =
    missing.length === 0
      ? [right('A webhook sends Signalbox every event that it needs.')]
      : [
          wrong(
            `The webhook does not send events about ${missing.join(', ')}.`,
            'Edit it and add these events, or send all events.',
          ),
        ];
  const { lastStatus } = hook;
  if (lastStatus === 401)
    findings.push(
      wrong(
        'Signalbox refused the last delivery: its signature does not match.',
        'Replace the secret with `signalbox admin rotate-hook-secret`: Signalbox sets the new one where it may, and the command prints it.',
      ),
    );
  else if (lastStatus !== null && (lastStatus < 200 || lastStatus >= 300))
    findings.push(
      wrong(
        lastStatus === 0
          ? 'The last delivery did not reach Signalbox.'
          : `Signalbox answered the last delivery with ${lastStatus}.`,
        `Check that the Git host can reach ${webhookUrl} (SIGNALBOX_PUBLIC_URL, firewalls, the allowed hosts for webhooks).`,
      ),
    );
  return findings;
}

function checkFindings({ inspection, queue }: DoctorInput): Finding[] {
  const required = queue.settings.requiredStatuses ?? inspection.protection?.requiredChecks ?? null;
  const own = checkName(queue);
  if (required === null)
    return [
      warning(
        'Neither the queue nor branch protection names required checks.',
        `Name them in .signalbox.yaml, set requiredStatuses of the queue, or require them in the protection of ${queue.targetBranch}. Otherwise the queue can test nothing.`,
      ),
    ];
  const findings: Finding[] = [];
  if (inspection.protection?.requiredChecks.includes(own) === true)
    findings.push(
      wrong(
        `The protection of ${queue.targetBranch} requires the queue’s own check “${own}”, which passes only after the merge: nothing can merge.`,
        'Remove it from the required checks.',
      ),
    );
  const others = required.filter((name) => name !== own);
  const silent = others.filter((name) => !inspection.recentChecks.includes(name));
  if (silent.length > 0)
    findings.push(
      wrong(
        `${silent.map((name) => `“${name}”`).join(', ')} ${silent.length === 1 ? 'is' : 'are'} required but did not report recently: runs would wait until they time out.`,
        `Check the spelling${inspection.recentChecks.length === 0 ? '' : ` (reported recently: ${inspection.recentChecks.slice(0, 5).join(', ')})`}, and that CI runs for branches signalbox/**.`,
      ),
    );
  else if (others.length > 0) findings.push(right(`Required and reporting: ${others.join(', ')}.`));
  return findings;
}

export const workflowQuestion = (
  { workflows, protection }: Inspection,
  { settings, targetBranch }: DoctorInput['queue'],
): WorkflowQuestion => ({
  files: workflows ?? [],
  targetBranch,
  required: settings.requiredStatuses ?? protection?.requiredChecks ?? [],
  testPullRequests: settings.createPrsForTestingBranches,
});

function ciFindings({ inspection, queue }: DoctorInput): Finding[] {
  const findings = workflowFindings(workflowQuestion(inspection, queue));
  if (inspection.workflowTokenWrites === true && inspection.othersMayCreateTestBranches === true)
    findings.push(
      warning(
        'Workflows get a token with write access, and no ruleset restricts who creates signalbox/** branches: the CI of a pull request could push a test branch itself.',
        'Settings → Actions → General: set the workflow permissions to read. Then add a ruleset for signalbox/** with “Restrict creations” and “Restrict updates”, and Signalbox alone on its bypass list.',
      ),
    );
  return findings;
}

function landingFindings({ inspection, queue, lands }: DoctorInput): Finding[] {
  const { protection, mergeMethods } = inspection;
  const { targetBranch: branch, settings } = queue;
  const findings: Finding[] = [];
  if (lands === 'fast_forward') {
    if (protection !== null && !protection.letsUsPush)
      findings.push(
        wrong(
          `The protection of ${branch} does not let Signalbox push, and the queue merges by pushing.`,
          `${inspection.fixes.push} Or set landingMode of the queue to host.`,
        ),
      );
    if (!inspection.marksMerged)
      findings.push(
        warning(
          'The Git host does not let Signalbox mark pull requests as merged: merged ones would be shown as open or closed.',
          `${inspection.fixes.markMerged} Or set landingMode of the queue to host.`,
        ),
      );
  } else {
    if (protection !== null && !protection.letsUsMerge)
      findings.push(
        wrong(
          `The protection of ${branch} does not let Signalbox merge, and the queue merges with the merge call of the Git host.`,
          'Allow the account of Signalbox to merge.',
        ),
      );
    if (protection?.needsUpToDate === true)
      findings.push(
        wrong(
          `The protection of ${branch} requires that a pull request contains the latest commit before it is merged: the Git host would refuse every second merge.`,
          'Turn “require branches to be up to date” off: the queue tests every pull request with the branch as it will be when it merges.',
        ),
      );
    if (!mergeMethods.includes(settings.mergeMethod))
      findings.push(
        wrong(
          `The queue merges with mergeMethod ${settings.mergeMethod}, and the repository does not allow it.`,
          `Allow it in the repository’s settings, or set mergeMethod of the queue to ${mergeMethods.join(' or ') || 'one that is allowed'}.`,
        ),
      );
  }
  if (findings.length === 0)
    findings.push(
      right(
        lands === 'host'
          ? 'The Git host lets Signalbox merge.'
          : `Signalbox may push to ${branch}, so it can merge.`,
      ),
    );
  return findings;
}
