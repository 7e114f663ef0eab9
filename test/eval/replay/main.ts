// `npm run eval:replay -- --events FILE [--out FILE]`: what Signalbox would have decided about the uploads of a file, upload by
// upload. docs/reference/replay.md documents both formats.
//
//   --events FILE   uploads as JSON lines, sorted by time; `-` reads standard input
//   --out FILE      changes of verdicts and excuses as JSON lines (default: standard output)

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { completeSettings } from '#core/health/settings.ts';
import { ReplayError } from './line.ts';
import { readEvents } from './read-events.ts';
import { createRepositoryReplay, type RepositoryReplay } from './repository.ts';
import type { ReplayUpload } from './upload.ts';
import { nameToJson } from './write-events.ts';

const { values } = parseArgs({ options: { events: { type: 'string' }, out: { type: 'string' } } });

const settings = completeSettings({ quarantine: { enabled: true, auto: true } });

function createListener(repository: string, write: (line: unknown) => void) {
  const instant = (at: number): string => new Date(at).toISOString();
  return {
    onVerdict: ({ at, test, before, status, reason, isQuarantined, heldBack, activeMonitors }) =>
      write({
        at: instant(at),
        kind: 'verdict',
        repository,
        test: nameToJson(test),
        variant: test.variant,
        before,
        status,
        reason,
        quarantined: isQuarantined,
        heldBack,
        monitors: activeMonitors,
      }),
    onExcuse: ({ at, variant, job, shard, branchClass, prNumber, head }, { test, failures }) =>
      write({
        at: instant(at),
        kind: 'excuse',
        repository,
        test: nameToJson(test),
        variant,
        job,
        shard,
        branchClass,
        pullRequest: prNumber,
        head,
        message: failures.at(-1)?.message ?? '',
      }),
  } satisfies Parameters<typeof createRepositoryReplay>[1];
}

async function replayFile(events: AsyncIterable<ReplayUpload>, out: NodeJS.WritableStream): Promise<number> {
  const repositories = new Map<string, RepositoryReplay>();
  let hasRoom = true;
  let count = 0;
  const write = (line: unknown): void => {
    hasRoom = out.write(`${JSON.stringify(line)}\n`);
  };
  for await (const upload of events) {
    const { repository } = upload;
    const known = repositories.get(repository);
    const replay =
      known ??
      createRepositoryReplay(repository, createListener(repository, write), { settings, isEager: false });
    if (known === undefined) repositories.set(repository, replay);
    replay.ingest(upload);
    count++;
    if (!hasRoom) await once(out, 'drain');
    hasRoom = true;
  }
  return count;
}

if (values.events === undefined) {
  console.error('`--events` is missing. Name a file of uploads as JSON lines, or `-` for standard input.');
  process.exit(2);
}
const input = values.events === '-' ? process.stdin : createReadStream(values.events);
const out = values.out === undefined ? process.stdout : createWriteStream(values.out);
try {
  const count = await replayFile(readEvents(input.setEncoding('utf8')), out);
  console.error(`${count} uploads were replayed.`);
  if (out !== process.stdout) {
    out.end();
    await finished(out);
  }
} catch (error) {
  const isKnown = error instanceof ReplayError || (error instanceof Error && 'code' in error);
  if (!isKnown) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
