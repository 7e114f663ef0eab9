// One profile and seed: the uploads are generated, replayed through the rules of the service, and counted against the truth.

import { monitors } from '#core/health/monitor/monitors.ts';
import { completeSettings } from '#core/health/settings.ts';
import { createRepositoryReplay } from '../replay/repository.ts';
import { generateReal } from './generate.ts';
import type { Phenomenon, ProfileName } from './profile.ts';
import { createRivals, type RivalName, type Rivals } from './rival.ts';
import type { RealUpload } from './run.ts';
import {
  createSeenTest,
  emptyRealTally,
  type FalseVerdict,
  markSpan,
  type RealTally,
  type SeenFailure,
  type SeenTest,
  tallyReal,
} from './score.ts';
import type { Truth } from './truth.ts';

export type RealTask = {
  readonly profile: ProfileName;
  readonly seed: number;
  readonly without: readonly Phenomenon[];
};

export type RealOutcome = {
  readonly task: RealTask;
  readonly tally: RealTally;
  readonly rivals: { readonly [name in RivalName]: RealTally };
  readonly falseVerdicts: readonly FalseVerdict[];
  readonly uploads: number;
  /** Of a processor; the other threads of the process are in it as well. */
  readonly seconds: number;
};

const settings = completeSettings({ quarantine: { enabled: true, auto: true } });

export function runReal(task: RealTask): RealOutcome {
  const begun = process.cpuUsage();
  const { uploads, truth } = generateReal(task.profile, task.seed, new Set(task.without));
  const { seen, rivals } = replayUploads(uploads, truth);
  const tally = emptyRealTally();
  const falseVerdicts = tallyReal(tally, truth, [...seen.values()]);
  const tallyRival = (name: RivalName): RealTally => {
    const own = emptyRealTally();
    tallyReal(own, truth, rivals.classify(name, seen));
    return own;
  };
  const seconds = process.cpuUsage(begun).user / 1e6;
  const tallies = {
    'one contradiction': tallyRival('one contradiction'),
    'two and 1 %': tallyRival('two and 1 %'),
  };
  return { task, tally, rivals: tallies, falseVerdicts, uploads: uploads.length, seconds };
}

function replayUploads(
  uploads: readonly RealUpload[],
  truth: Truth,
): { readonly seen: ReadonlyMap<number, SeenTest>; readonly rivals: Rivals } {
  const rivals = createRivals();
  const seen = new Map<number, SeenTest>();
  const excused = new Set<number>();
  const replay = createRepositoryReplay(
    'replay/real',
    {
      onVerdict: ({ at, number, status, reason, isQuarantined, activeMonitors }) => {
        const test = seenTest(number);
        const isFlaky = activeMonitors.some((monitor) => monitors[monitor].says === 'flaky');
        markSpan(test.flaky, isFlaky, at, reason);
        markSpan(test.quarantined, isQuarantined, at, reason);
        markSpan(test.broken, status === 'broken', at, reason);
      },
      onExcuse: (_upload, _result, number) => {
        excused.add(number);
      },
    },
    { settings, isEager: false },
  );
  const seenTest = (number: number): SeenTest => {
    const known = seen.get(number);
    if (known !== undefined) return known;
    const { name, variant } = replay.numbers.testAt(number);
    const created = createSeenTest(truth.numberOf(name), variant);
    seen.set(number, created);
    return created;
  };
  for (const { upload, failing, isRepeated } of uploads) {
    excused.clear();
    replay.ingest(upload);
    const numbers = failing.map((_, index) =>
      replay.numbers.numberOf(upload.results[index]!.test, upload.variant),
    );
    rivals.add(
      replay.log.newest(),
      new Map(failing.map(({ isFailed }, index) => [numbers[index]!, !isFailed])),
    );
    if (isRepeated) continue;
    for (const [index, { cause, isFailed }] of failing.entries()) {
      const number = numbers[index]!;
      const failure: SeenFailure = {
        at: upload.at,
        head: upload.head,
        cause,
        isFailed,
        isDefault: upload.branchClass === 'default',
        isPullRequest: upload.branchClass === 'pull_request',
        isExcused: excused.has(number),
      };
      seenTest(number).failures.push(failure);
    }
  }
  return { seen, rivals };
}
