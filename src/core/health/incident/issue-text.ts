// The issue of an incident: one template. Names that others chose are shown as code, so that nothing in them is markup, a
// link or a mention. The text changes only when something does that its reader acts on.

import { countText } from '#base/number-text.ts';
import { code } from '../../queue/text/markup.ts';
import type { HealthStatus } from '../status.ts';

export type IssueTest = {
  readonly name: string;
  readonly file: string | null;
  readonly status: HealthStatus;
  readonly isQuarantined: boolean;
  /** Null: it has none. */
  readonly endsAt: Date | null;
  readonly owners: readonly string[];
  readonly url: string;
};

export type IssueText = { readonly title: string; readonly body: string };

const testsMax = 50;
const ownersMax = 10;
const titleMax = 200;

export const incidentMark = (incidentId: string): string => `signalbox:incident:${incidentId}`;

/** By their names. At least one. */
export function issueText(tests: readonly IssueTest[]): IssueText {
  const [first] = tests;
  const others = tests.length - 1;
  const title = `Flaky: ${first!.name}${others === 0 ? '' : ` and ${countText(others, 'other test')}`}`;
  const owners = [...new Set(tests.flatMap((test) => test.owners))];
  const named = owners.slice(0, ownersMax).map(code).join(', ');
  const subject = others === 0 ? 'A test is' : `${countText(tests.length, 'test')} that fail together are`;
  return {
    title: plainTitle(title),
    body: [
      `${subject} flaky and quarantined: known flaky failures do not fail CI until the quarantine ends. Then they count again.`,
      tests.slice(0, testsMax).map(testLine).join('\n'),
      ...(tests.length > testsMax ? [`… and ${countText(tests.length - testsMax, 'other test')}.`] : []),
      named === ''
        ? '**Owner:** none. Add the files to CODEOWNERS, or name an owner in Signalbox.'
        : `**Owner:** ${named}`,
      '<sub>Signalbox closes this issue once every test has passed often enough in a row, and reopens it if one of them is quarantined again within 30 days.</sub>',
    ].join('\n\n'),
  };
}

function testLine({ name, file, status, isQuarantined, endsAt, url }: IssueTest): string {
  const where = file === null ? '' : ` in ${code(file)}`;
  const until =
    isQuarantined && endsAt !== null ? `, quarantined until ${endsAt.toISOString().slice(0, 10)}` : '';
  return `- ${code(name)}${where}: ${status}${until} ([details](<${url}>))`;
}

/** A title has no markup, but a host finds mentions in it. */
function plainTitle(title: string): string {
  const line = title.replaceAll(/\s+/g, ' ').replaceAll('@', '@\u2060').trim();
  return line.length > titleMax ? `${line.slice(0, titleMax - 1)}…` : line;
}
