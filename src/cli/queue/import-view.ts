// What an import says: a command that makes each queue, the repository's file with the required checks, and what became
// of every key. What stands in the file was written by others: it is shown as plain text, and quoted for the shell.

import { stringify } from 'yaml';
import type { Finding, ImportedQueue, Outcome } from '#core/import/finding.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import type { RepositoryName } from '#core/repository.ts';
import { repositoryText } from '../client/place.ts';
import { countText, type Pen, penFor, printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import type { ReadQueue } from './import-file.ts';

type ShowOptions = {
  readonly branch: string;
  readonly repo: RepositoryName | null;
  readonly isJson: boolean;
};

type Plan = {
  readonly queues: readonly { readonly branch: string; readonly settings: Partial<QueueSettings> }[];
  /** Of `.signalbox.yaml`; null: there is nothing to put into it. */
  readonly requiredStatuses: readonly string[] | null;
};

const headings: { readonly [Name in Outcome]: string } = {
  mapped: 'Mapped',
  differs: 'Mapped, and different here',
  host: 'For the host',
  unmapped: 'Not mapped',
  unknown: 'Unknown',
};

export function showImported(read: ReadQueue, { branch, repo, isJson }: ShowOptions): void {
  const plan = planOf(read.queues, branch);
  const { from, file, findings } = read;
  const commands = plan.queues.map((queue) => commandOf(queue, repo));
  if (isJson) {
    printJson({ from, ...plan, commands, findings });
    return;
  }
  const pen = penFor(process.stdout);
  printLines([
    `${plainLine(file)} (${from}): ${countText(plan.queues.length, 'queue')}. Nothing is changed by this.`,
    '',
    pen('strong', plan.queues.length === 1 ? 'Make the queue' : 'Make the queues'),
    ...commands.map((command) => `  ${command}`),
    ...fileLines(plan.requiredStatuses, pen),
    ...(Object.keys(headings) as Outcome[]).flatMap((outcome) => sectionOf(outcome, findings, pen)),
  ]);
}

/** Required checks belong to the repository, in its file, unless queues of several branches differ in them. */
function planOf(queues: readonly ImportedQueue[], branch: string): Plan {
  const named = queues.map((queue) => ({ ...queue, branch: queue.branch ?? branch }));
  const lists = new Set(named.map(({ settings }) => JSON.stringify(settings.requiredStatuses ?? null)));
  if (lists.size > 1) return { queues: named, requiredStatuses: null };
  return {
    queues: named.map(({ branch: name, settings }) => ({
      branch: name,
      settings: Object.fromEntries(Object.entries(settings).filter(([key]) => key !== 'requiredStatuses')),
    })),
    requiredStatuses: named[0]?.settings.requiredStatuses ?? null,
  };
}

function commandOf({ branch, settings }: Plan['queues'][number], repo: RepositoryName | null): string {
  const where = [...(repo === null ? [] : ['--repo', repositoryText(repo)]), '--branch', branch];
  const changed = Object.entries(settings).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(defaultSettings[name as keyof QueueSettings]),
  );
  const pairs = changed.map(
    ([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : String(value)}`,
  );
  return ['signalbox queue create', ...[...where, ...pairs].map(inShell)].join(' ');
}

const inShell = (word: string): string => {
  const plain = plainLine(word, 30_000);
  return /^[\w./=:,@%+-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`;
};

function fileLines(requiredStatuses: Plan['requiredStatuses'], pen: Pen): readonly string[] {
  if (requiredStatuses === null) return [];
  const text = stringify({
    merge: { required_statuses: requiredStatuses.map((name) => plainLine(name, 255)) },
  });
  return ['', pen('strong', 'Put this into .signalbox.yaml of the repository'), ...indented(text)];
}

const indented = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`);

function sectionOf(outcome: Outcome, all: readonly Finding[], pen: Pen): readonly string[] {
  const findings = all.filter((finding) => finding.outcome === outcome);
  if (findings.length === 0) return [];
  return [
    '',
    pen(
      outcome === 'unmapped' || outcome === 'unknown' ? 'warning' : 'strong',
      `${headings[outcome]} (${findings.length})`,
    ),
    ...findings.flatMap(({ at, value, to, why }) => [
      `  ${plainLine([at, value].filter((part) => part !== '').join(' '))}${to === '' ? '' : `  →  ${plainLine(to, 500)}`}`,
      ...(why === '' ? [] : [pen('quiet', `      ${plainLine(why, 500)}`)]),
    ]),
  ];
}
