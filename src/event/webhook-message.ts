// Events for people: a line in a Slack channel, a card in a Teams channel. What others wrote (names of tests, of branches,
// of authors) is shown as it is and can neither mention anybody nor make a link.

import type { RepositoryName } from '#core/repository.ts';
import { fullName } from '#core/repository.ts';
import type { Payload } from './webhook-payload.ts';

/** An event in words: what it is about, what happened, and what more there is to say. */
type Words = {
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
  queued: 'is in line',
  testing: 'is being tested',
  pending_failure: 'is in a test run that failed',
  failed: 'failed and left the queue',
  canceled: 'was taken out of the queue',
  merged: 'was merged',
};

const reasonWords = (reason: unknown): string => text(reason).replaceAll('_', ' ').toLowerCase();

function numbersOf(payload: Payload): string {
  const numbers = payload['pr_numbers'];
  if (!Array.isArray(numbers)) return `#${text(payload['pr_number'])}`;
  const shown = numbers
    .slice(0, 20)
    .map((number) => `#${text(number)}`)
    .join(', ');
  return numbers.length > 20 ? `${shown} and ${numbers.length - 20} more` : shown;
}

function testWords(payload: Payload): Pick<Words, 'subject' | 'happened' | 'details'> {
  const test = payload['test'] as { readonly name?: unknown; readonly codeowners?: readonly string[] };
  const previous = payload['previous'] as Readonly<Record<string, unknown>>;
  const current = payload['current'] as Readonly<Record<string, unknown>>;
  const owners = (test.codeowners ?? []).slice(0, 10).map(text).join(', ');
  const details: (readonly [string, string])[] = owners === '' ? [] : [['Owners', owners]];
  const subject = text(test.name);
  switch (payload['action']) {
    case 'status_changed':
      if (text(current['reason']) !== '') details.unshift(['Why', text(current['reason'])]);
      return { subject, happened: `is ${text(current['value'])}, was ${text(previous['value'])}`, details };
    case 'monitor_status_changed':
      return {
        subject,
        happened: `is ${current['isActive'] === true ? 'now' : 'no longer'} noticed by ${text(current['monitor'])}`,
        details,
      };
    default: {
      const setting = reasonWords(current['setting']);
      return { subject, happened: `has another quarantine setting: ${setting}`, details };
    }
  }
}

function wordsOf(payload: Payload): Words {
  const url = String(payload['http_details_url']);
  if (payload.type === 'webhook.test')
    return { subject: 'Signalbox', happened: text(payload['message']), details: [], url };
  const repository = fullName(payload['repository'] as RepositoryName);
  if (payload.type.startsWith('test_case.')) {
    const { details, ...words } = testWords(payload);
    return { ...words, details: [['Repository', text(repository)], ...details], url };
  }
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
  if (typeof reason === 'string') details.push(['Why', reasonWords(reason)]);
  return { subject: numbersOf(payload), happened: happenings[action] ?? text(action), details, url };
}

/** Slack gives these a meaning; everything else of its markup needs none of ours to be harmless. */
const slackText = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Letters that begin and end markup keep their look without their meaning. */
const slackPlain = (value: string): string =>
  slackText(value).replace(/[*_~`@]/g, (letter) => `${letter}\u2060`);

export function slackBody(payload: Payload): object {
  const { subject, happened, details, url } = wordsOf(payload);
  const link = `<${slackText(url).replaceAll('|', '%7C')}|${slackPlain(subject)}>`;
  const rest = details.map(([label, value]) => `${label}: ${slackPlain(value)}`).join(' · ');
  return { text: `${link} ${slackPlain(happened)}${rest === '' ? '' : `\n${rest}`}`, unfurl_links: false };
}

/** A rich text has no markup. */
const run = (value: string, more: object = {}) => ({ type: 'TextRun', text: value, ...more });
const rich = (...inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines });

/** What a workflow of Teams takes: a message with an Adaptive Card. */
export function teamsBody(payload: Payload): object {
  const { subject, happened, details, url } = wordsOf(payload);
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
