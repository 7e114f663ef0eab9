// What is right and what is wrong with a repository for a merge queue, each fault with the exact fix. Pure: it judges what
// the host said of itself (Inspection).

import { checkName } from '#core/queue/message.ts';
import type { Queue } from '#core/queue/model.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import { guaranteeFindings, ruleFindings } from './doctor-landing.ts';
import { workflowFindings } from './doctor-workflow.ts';
import { type Finding, right, warning, wrong } from './finding.ts';
import type { Inspection } from './host.ts';
import type { ActiveRule } from './rule.ts';

export type Patient = {
  readonly inspection: Inspection;
  /** The rules that are active for the branch, for the queue's method and way of landing. */
  readonly rules: readonly ActiveRule[];
  readonly queue: Pick<Queue, 'targetBranch' | 'settings'>;
  /** How the queue lands here. */
  readonly lands: 'fast_forward' | 'host';
  /** The host shows a pull request as merged whose commits were pushed. */
  readonly isShownAsMerged: boolean;
  readonly webhookUrl: string;
};

export function diagnose(patient: Patient): readonly Finding[] {
  const { inspection } = patient;
  const version = right(`The host answers: ${inspection.version}.`);
  if (inspection.own === null)
    return [
      version,
      wrong(
        'Signalbox cannot see the repository.',
        'Check its spelling; then add the account of Signalbox as a collaborator with write access, or install the App on it.',
      ),
    ];
  if (inspection.own === 'none' || inspection.own === 'read')
    return [
      version,
      wrong(
        `Signalbox may only ${inspection.own === 'none' ? 'see' : 'read'} the repository: it can push no test branch and land nothing.`,
        'Give its account write access (Gitea: Settings → Collaborators; GitHub: the App needs read and write for contents, pull requests, issues, checks and commit statuses).',
      ),
    ];
  return [
    version,
    right(`Signalbox may ${inspection.own === 'admin' ? 'administer' : 'write to'} the repository.`),
    ...branchFindings(patient),
    ...webhookFindings(patient),
    ...checkFindings(patient),
    ...ciFindings(patient),
    ...landingFindings(patient),
    ...ruleFindings(patient),
    ...guaranteeFindings(patient),
    ...inspection.lost.map((what) => warning(what, 'Give the App the permission that the guide names.')),
  ];
}

function branchFindings({ inspection, queue }: Patient): Finding[] {
  const { targetBranch: branch } = queue;
  return [
    inspection.branchExists
      ? right(`The branch ${branch} is there.`)
      : wrong(`There is no branch ${branch}.`, `Push it, or create the queue for a branch that exists.`),
    inspection.testBranchRule === null
      ? right('Test branches (signalbox/…) can be pushed and deleted.')
      : wrong(
          `A branch rule (${inspection.testBranchRule}) keeps Signalbox from making or deleting test branches.`,
          'Exclude signalbox/** from the rule, or let the account of Signalbox bypass it.',
        ),
  ];
}

/** What we need to be told of, in the words that hosts use. */
const neededEvents: { readonly [Kind in HostEvent['kind']]: string } = {
  'pull-request-changed': 'pull requests',
  'check-changed': 'statuses and checks',
  'branch-moved': 'pushes',
  'comment-written': 'comments',
  'label-changed': 'labels',
};

function webhookFindings({ inspection, webhookUrl }: Patient): Finding[] {
  if (inspection.webhooks === null)
    return [
      warning(
        'Signalbox may not read the webhooks of the repository, so they are not checked.',
        'Give its account admin rights for this check, or look yourself: the address must be the one that `signalbox admin connect` printed.',
      ),
    ];
  const own = inspection.webhooks.filter(({ url }) => url === webhookUrl);
  const hook = own.find(({ isActive }) => isActive) ?? own[0];
  if (hook === undefined)
    return [
      wrong(
        'No webhook tells Signalbox what happens here: everything waits for the next sweep.',
        `Add a webhook to ${webhookUrl} with the secret that \`signalbox admin connect\` printed, content type application/json, for ${Object.values(neededEvents).join(', ')}.`,
      ),
    ];
  if (!hook.isActive) return [wrong('The webhook to Signalbox is switched off.', 'Activate it.')];
  const missing = Object.entries(neededEvents)
    .filter(([kind]) => !hook.tells.includes(kind as HostEvent['kind']))
    .map(([, words]) => words);
  const findings =
    missing.length === 0
      ? [right('A webhook tells Signalbox of everything it needs.')]
      : [
          wrong(
            `The webhook does not tell of ${missing.join(', ')}.`,
            'Edit it and choose these events too, or all.',
          ),
        ];
  const { lastStatus } = hook;
  if (lastStatus === 401)
    findings.push(
      wrong(
        'The last delivery was refused: its signature does not match.',
        'Set the secret of the webhook to the one that `signalbox admin connect` printed.',
      ),
    );
  else if (lastStatus !== null && (lastStatus < 200 || lastStatus >= 300))
    findings.push(
      wrong(
        lastStatus === 0
          ? 'The last delivery did not reach Signalbox.'
          : `The last delivery was answered with ${lastStatus}.`,
        `Check that the host can reach ${webhookUrl} (SIGNALBOX_PUBLIC_URL, firewalls, the host’s list of allowed addresses).`,
      ),
    );
  return findings;
}

function checkFindings({ inspection, queue }: Patient): Finding[] {
  const required = queue.settings.requiredStatuses ?? inspection.protection?.requiredChecks ?? null;
  const own = checkName(queue);
  if (required === null)
    return [
      warning(
        'Nothing outside the repository says which checks must pass.',
        `Name them in .signalbox.yaml, set requiredStatuses of the queue, or require them in the protection of ${queue.targetBranch}; otherwise nothing can be tested.`,
      ),
    ];
  const findings: Finding[] = [];
  if (inspection.protection?.requiredChecks.includes(own) === true)
    findings.push(
      wrong(
        `The protection of ${queue.targetBranch} requires the queue’s own check “${own}”, which passes only after landing: nothing can land.`,
        'Take it off the required checks.',
      ),
    );
  const others = required.filter((name) => name !== own);
  const silent = others.filter((name) => !inspection.recentChecks.includes(name));
  if (silent.length > 0)
    findings.push(
      wrong(
        `${silent.map((name) => `“${name}”`).join(', ')} ${silent.length === 1 ? 'is' : 'are'} required, and never reported lately: runs would wait until they time out.`,
        `Check the spelling${inspection.recentChecks.length === 0 ? '' : ` (lately reported: ${inspection.recentChecks.slice(0, 5).join(', ')})`}, and that CI runs for branches signalbox/**.`,
      ),
    );
  else if (others.length > 0) findings.push(right(`Required and reporting: ${others.join(', ')}.`));
  return findings;
}

function ciFindings({ inspection, queue }: Patient): Finding[] {
  const { settings, targetBranch } = queue;
  const required = settings.requiredStatuses ?? inspection.protection?.requiredChecks ?? [];
  const files = inspection.workflows ?? [];
  const testPullRequests = settings.createPrsForTestingBranches;
  const findings = workflowFindings({ files, targetBranch, required, testPullRequests });
  if (inspection.workflowTokenWrites === true && inspection.othersMayCreateTestBranches === true)
    findings.push(
      warning(
        'Workflows get a token that may write, and no ruleset says who may create signalbox/** branches: CI of a pull request could push a test branch of its own.',
        'Settings → Actions → General: set the workflow permissions to read. Then add a ruleset for signalbox/** with “Restrict creations” and “Restrict updates”, and Signalbox alone on its bypass list.',
      ),
    );
  return findings;
}

function landingFindings({ inspection, queue, lands }: Patient): Finding[] {
  const { protection, mergeMethods } = inspection;
  const { targetBranch: branch, settings } = queue;
  const findings: Finding[] = [];
  if (lands === 'fast_forward') {
    if (protection !== null && !protection.letsUsPush)
      findings.push(
        wrong(
          `The protection of ${branch} does not let Signalbox push to it, and the queue lands by pushing.`,
          'Put the account of Signalbox on the list of those who may push (GitHub: who may bypass the rule), or set landingMode of the queue to host.',
        ),
      );
    if (!inspection.marksMerged)
      findings.push(
        warning(
          'The host does not let Signalbox say that a pull request was merged by a push: landed ones would be shown as open or closed.',
          'Gitea: Settings → Pull requests → allow marking as manually merged. Or set landingMode of the queue to host.',
        ),
      );
  } else {
    if (protection !== null && !protection.letsUsMerge)
      findings.push(
        wrong(
          `The protection of ${branch} does not let Signalbox merge, and the queue lands by the host’s merge call.`,
          'Put the account of Signalbox on the list of those who may merge.',
        ),
      );
    if (protection?.needsUpToDate === true)
      findings.push(
        wrong(
          `The protection of ${branch} asks that a pull request contain the newest commit before it is merged: the host would refuse every second landing.`,
          'Switch “require branches to be up to date” off: the queue tests every pull request on the state its branch will have.',
        ),
      );
    if (!mergeMethods.includes(settings.mergeMethod))
      findings.push(
        wrong(
          `The queue lands by ${settings.mergeMethod}, and the repository does not allow it.`,
          `Allow it in the repository’s settings, or set mergeMethod of the queue to ${mergeMethods.join(' or ') || 'one that is allowed'}.`,
        ),
      );
  }
  if (findings.length === 0)
    findings.push(
      right(
        lands === 'host' ? 'The host lets Signalbox merge.' : `Signalbox may push to ${branch}, and so land.`,
      ),
    );
  return findings;
}
