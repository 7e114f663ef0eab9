// Events for people: a line in a Slack channel, a card in a Teams channel. Text of others (names of tests, of
// branches, of authors) is shown as it is and can neither mention a person nor make a link.

import { heldBackText } from '#contract/text/held-back-text.ts';
import type { RepositoryName } from '#core/repository.ts';
import { fullName } from '#core/repository.ts';
import type { Payload } from './webhook-payload.ts';

/** An event as text: its subject, what happened, and details. */
type EventSummary = {
  readonly subject: string;
  readonly happened: string;
  readonly details: readonly (readonly [label: string, value: string])[];
  readonly url: string;
};

const textMax = 300;
const unseen =
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be shown
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g;

function text(value: unknown): string {
  const whole = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const line = whole.replace(unseen, ' ');
  return line.length > textMax ? `${line.slice(0, textMax - 1)}…` : line;
}

const happenings: Readonly<Record<string, string>> = {
  submitted: 'was submitted to the queue',
  queued: 'is queued',
  testing: 'is being tested',
  pending_failure: 'is in a failed test run; Signalbox is checking whether it caused the failure',
  failed: 'failed and was removed from the queue',
  canceled: 'was cancelled and removed from the queue',
  merged: 'was merged',
};

const formatReason = (reason: unknown): string => text(reason).replaceAll('_', ' ').toLowerCase();

function formatPullRequests(payload: Payload): string {
  const numbers = payload['pr_numbers'];
  if (!Array.isArray(numbers)) return `#${text(payload['pr_number'])}`;
  const shown = numbers
    .slice(0, 20)
    .map((number) => `#${text(number)}`)
    .join(', ');
  return numbers.length > 20 ? `${shown} and ${numbers.length - 20} more` : shown;
}

function describeBreakage(current: Readonly<Record<string, unknown>>): string {
  const { culprit, candidate_count: count } = current;
  const range = `passed on ${text(current['passed_sha'] ?? 'an unknown commit').slice(0, 17)} and fails since ${text(current['failed_sha']).slice(0, 7)}`;
  const cause =
    typeof culprit === 'number'
      ? `; #${culprit} is the likeliest cause`
      : `; ${text(count)} changes landed in between`;
  return `${range}${cause}`;
}

function summarizeTestEvent(payload: Payload): Pick<EventSummary, 'subject' | 'happened' | 'details'> {
  const test = payload['test'] as {
    readonly name?: unknown;
    readonly codeowners?: readonly string[];
    readonly quarantine_owners?: readonly string[];
  };
  const previous = payload['previous'] as Readonly<Record<string, unknown>>;
  const current = payload['current'] as Readonly<Record<string, unknown>>;
  const owners = (test.quarantine_owners ?? test.codeowners ?? []).slice(0, 10).map(text).join(', ');
  const details: (readonly [string, string])[] = owners === '' ? [] : [['Owners', owners]];
  const subject = text(test.name);
  switch (payload['action']) {
    case 'status_changed':
      if (text(current['reason']) !== '') details.unshift(['Why', text(current['reason'])]);
      return {
        subject,
        happened: `is now ${text(current['value'])} (before: ${text(previous['value'])})`,
        details,
      };
    case 'monitor_status_changed':
      return {
        subject,
        happened: `is ${current['isActive'] === true ? 'now' : 'no longer'} flagged by the monitor ${text(current['monitor'])}`,
        details,
      };
    case 'quarantine_held_back': {
      const why = heldBackText(text(current['reason']));
      return { subject, happened: `is not quarantined. ${why}`, details };
    }
    case 'quarantine_ending':
      return {
        subject,
        happened: `leaves quarantine at ${text(current['endsAt'])}; from then on its failures count`,
        details,
      };
    case 'fix_verification_changed':
      return { subject, happened: describeVerification(current), details };
    case 'breakage_located':
      return { subject, happened: describeBreakage(current), details };
    case 'renamed': {
      const former = text(current['former_name']);
      const happened =
        current['is_carried'] === true
          ? `was “${former}” before; its history is carried over`
          : `has no history of “${former}” any more`;
      return { subject, happened, details };
    }
    default: {
      const setting = formatReason(current['setting']);
      return { subject, happened: `has a new quarantine setting: ${setting}`, details };
    }
  }
}

/** What the verification of a fix has come to. */
function describeVerification(current: Readonly<Record<string, unknown>>): string {
  const on = text(current['failed_sha']).slice(0, 7);
  return fixHappenings[text(current['state'])]?.replace('{sha}', on) ?? 'has a new state of its verification';
}

const fixHappenings: Readonly<Record<string, string>> = {
  verifying: 'is said to be fixed; CI repeats it until that is shown',
  fixed: 'is fixed: enough clean runs have shown it',
  refuted: 'is not fixed: it failed as before on {sha}',
  failed_otherwise: 'failed on {sha} in a way in which it had never failed before its fix',
  expired: 'was not shown to be fixed in time',
  cancelled: 'is no longer being verified',
};

const queueHappenings: Readonly<Record<string, string>> = {
  halted: 'was stopped by Signalbox',
  stalled: 'makes no progress',
  slow: 'has become slow',
};

const queueRecoveries: Readonly<Record<string, string>> = {
  halted: 'is running again',
  stalled: 'makes progress again',
  slow: 'is as fast as usual again',
};

function summarizeQueueEvent(payload: Payload): Omit<EventSummary, 'url'> {
  const { owner, name } = payload['repository'] as RepositoryName;
  const details: (readonly [string, string])[] = [];
  if (typeof payload['reason'] === 'string') details.push(['Why', text(payload['reason'])]);
  if (typeof payload['actor'] === 'string') details.push(['By', text(payload['actor'])]);
  return {
    subject: text(`${owner}/${name} ${String(payload['target_branch'])}`),
    happened: describeQueueEvent(payload),
    details,
  };
}

function describeQueueEvent(payload: Payload): string {
  const { action, from, state, previous_state: previous } = payload;
  switch (action) {
    case 'mismatch':
      return payload['is_merged'] === true
        ? `has commits that were not tested as they are, of ${formatPullRequests(payload)}`
        : `was to get commits that were not tested as they are, of ${formatPullRequests(payload)}; Signalbox did not merge them`;
    case 'recovered':
      return queueRecoveries[text(from)] ?? 'works again';
    case 'state_changed':
      return `is now ${text(state)} (before: ${text(previous)})`;
    default:
      return queueHappenings[text(action)] ?? text(action);
  }
}

function summarizeEvent(payload: Payload): EventSummary {
  const url = String(payload['http_details_url']);
  if (payload.type === 'webhook.test')
    return { subject: 'Signalbox', happened: text(payload['message']), details: [], url };
  const repository = fullName(payload['repository'] as RepositoryName);
  if (payload.type.startsWith('test_case.')) {
    const { details, ...summary } = summarizeTestEvent(payload);
    return { ...summary, details: [['Repository', text(repository)], ...details], url };
  }
  if (/^(?:queue|landing)\./.test(payload.type)) return { ...summarizeQueueEvent(payload), url };
  const action = String(payload['action']);
  const reason =
    payload['failure_reason'] ??
    payload['cancellation_reason'] ??
    payload['queued_reason'] ??
    payload['merged_reason'];
  const details: (readonly [string, string])[] = [
    ['Queue', text(`${repository} ${String(payload['target_branch'])}`)],
  ];
  if (typeof payload['author'] === 'string') details.push(['Author', text(payload['author'])]);
  if (typeof reason === 'string') details.push(['Why', formatReason(reason)]);
  return { subject: formatPullRequests(payload), happened: happenings[action] ?? text(action), details, url };
}

/** The characters with a meaning in Slack; the rest of its markup is harmless. */
const slackText = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Characters that begin and end markup stay visible but lose their meaning. */
const slackPlain = (value: string): string =>
  slackText(value).replace(/[*_~`@]/g, (letter) => `${letter}\u2060`);

export function slackBody(payload: Payload): object {
  const { subject, happened, details, url } = summarizeEvent(payload);
  const link = `<${slackText(url).replaceAll('|', '%7C')}|${slackPlain(subject)}>`;
  const rest = details.map(([label, value]) => `${label}: ${slackPlain(value)}`).join(' · ');
  return { text: `${link} ${slackPlain(happened)}${rest === '' ? '' : `\n${rest}`}`, unfurl_links: false };
}

/** A rich text has no markup. */
const run = (value: string, more: object = {}) => ({ type: 'TextRun', text: value, ...more });
const rich = (...inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines });

/** The input of a Teams workflow: a message with an Adaptive Card. */
export function teamsBody(payload: Payload): object {
  const { subject, happened, details, url } = summarizeEvent(payload);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      rich(run(subject, { weight: 'Bolder' }), run(` ${happened}`)),
      ...details.map(([label, value]) => rich(run(`${label}: `, { isSubtle: true }), run(value))),
    ],
    actions: [{ type: 'Action.OpenUrl', title: 'Show in Signalbox', url }],
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}
