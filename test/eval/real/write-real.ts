// Writes the uploads of one replay as JSON lines, and beside it (`FILE.truth`) the truth about each failure.

import { closeSync, openSync, writeSync } from 'node:fs';
import { createEventWriter } from '../replay/write-events.ts';
import { generateReal } from './generate.ts';
import type { Phenomenon, ProfileName } from './profile.ts';

export function writeReal(
  file: string,
  profile: ProfileName,
  seed: number,
  without: ReadonlySet<Phenomenon>,
): number {
  const { uploads, truth } = generateReal(profile, seed, without);
  const events = openSync(file, 'w');
  const write = createEventWriter((line) => writeSync(events, `${line}\n`));
  for (const { upload } of uploads) write(upload);
  closeSync(events);
  const truths = openSync(`${file}.truth`, 'w');
  const note = (value: unknown): number => writeSync(truths, `${JSON.stringify(value)}\n`);
  for (const flaky of truth.flaky.values())
    note({ kind: 'flaky', test: flaky.test, why: flaky.kind, flaky: flaky.flaky });
  for (const { tests, from, to, isPlatform } of truth.regressions)
    note({ kind: 'regression', tests, from, to, isPlatform });
  for (const { upload, failing } of uploads)
    for (const [index, { test, cause, isFailed }] of failing.entries())
      note({
        kind: 'failure',
        at: upload.at,
        head: upload.head,
        job: upload.job,
        name: upload.results[index]!.test.name,
        test,
        cause,
        isFailed,
      });
  closeSync(truths);
  return uploads.length;
}
