// The output of an import: a command that creates each queue, the repository's file with the required checks,
// and the result for every key. The imported file is not trusted: its content is shown as plain text, and
// quoted for the shell.

import { stringify } from 'yaml';
import { countText } from '#base/number-text.ts';
import type { ImportFinding, ImportedQueue, ImportOutcome } from './finding.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import type { RepositoryName } from '#core/repository.ts';
import { repositoryText } from '#cli/client/place.ts';
import { type Pen, penFor, printJson, printLines } from '#cli/terminal/output.ts';
import { plainLine } from '#cli/terminal/plain-text.ts';
import type { ReadQueue } from './import-file.ts';

type ShowOptions = {
  readonly branch: string;
  readonly repo: RepositoryName | null;
  readonly isJson: boolean;
};

type ImportPlan = {
  readonly queues: readonly { readonly branch: string; readonly settings: Partial<QueueSettings> }[];
  /** For `.signalbox.yaml`; null: there is nothing to put into it. */
  readonly requiredStatuses: readonly string[] | null;
};

const headings: { readonly [Name in ImportOutcome]: string } = {
  mapped: 'Mapped',
  differs: 'Mapped, with differences',
  host: 'Configure at the Git host',
  unmapped: 'Not mapped',
  unknown: 'Unknown',
};

export function showImported(read: ReadQueue, { branch, repo, isJson }: ShowOptions): void {
  const plan = buildImportPlan(read.queues, branch);
  const { from, file, findings } = read;
  const commands = plan.queues.map((queue) => formatCreateCommand(queue, repo));
  if (isJson) {
    printJson({ from, ...plan, commands, findings });
    return;
  }
  const pen = penFor(process.stdout);
  printLines([
    `${plainLine(file)} (${from}): ${countText(plan.queues.length, 'queue')}. This command changes nothing.`,
    '',
    pen('strong', plan.queues.length === 1 ? 'Create the queue' : 'Create the queues'),
    ...commands.map((command) => `  ${command}`),
    ...fileLines(plan.requiredStatuses, pen),
    ...(Object.keys(headings) as ImportOutcome[]).flatMap((outcome) =>
      renderFindingSection(outcome, findings, pen),
    ),
  ]);
}

/** Required checks go into the repository's file, unless queues of several branches have different ones. */
function buildImportPlan(queues: readonly ImportedQueue[], branch: string): ImportPlan {
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

function formatCreateCommand(
  { branch, settings }: ImportPlan['queues'][number],
  repo: RepositoryName | null,
): string {
  const where = [...(repo === null ? [] : ['--repo', repositoryText(repo)]), '--branch', branch];
  // How batches are formed is always named, even if it is the default: otherwise the queue decides that.
  const changed = Object.entries(settings).filter(
    ([name, value]) =>
      name === 'batch' ||
      JSON.stringify(value) !== JSON.stringify(defaultSettings[name as keyof QueueSettings]),
  );
  const pairs = changed.map(
    ([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : String(value)}`,
  );
  return ['signalbox queue create', ...[...where, ...pairs].map(inShell)].join(' ');
}

const inShell = (argument: string): string => {
  const plain = plainLine(argument, 30_000);
  return /^[\w./=:,@%+-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`;
};

function fileLines(requiredStatuses: ImportPlan['requiredStatuses'], pen: Pen): readonly string[] {
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

function renderFindingSection(
  outcome: ImportOutcome,
  all: readonly ImportFinding[],
  pen: Pen,
): readonly string[] {
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
