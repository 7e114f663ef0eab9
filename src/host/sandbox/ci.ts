// The CI of the sandbox. A push starts it: a pending status for each context, and a job that ends it when it is due.
// The same commit on another branch is another attempt: its statuses begin anew.
//
// What comes out follows from the script (if the repository has CI run one) and from chance, and chance from the seed,
// the commit and the attempt: a story with flaky tests can be told again.

import { createHash } from 'node:crypto';
import type { Check } from '#core/queue/check.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { HostRepository } from '../host.ts';
import type { Announce } from './announce.ts';
import type { Disk } from './disk.ts';
import { findCommit, listRefs } from './git.ts';
import { runScript } from './script.ts';
import { type CiSettings, type SandboxSettings, settingsFrom } from './setting.ts';
import type { CiKey, CiRecord, SandboxStore } from './store.ts';

export type Ci = {
  readonly start: (repository: HostRepository, settings: SandboxSettings, key: CiKey) => Promise<void>;
  /** Starts what a push should have started and nobody noticed. */
  readonly repair: (repository: HostRepository, settings: SandboxSettings, sha: string) => Promise<void>;
  /** Ends CI that is under way; answers whether there was any. */
  readonly stop: (repository: HostRepository, settings: SandboxSettings, key: CiKey) => Promise<boolean>;
  /** What the job does when CI is due. */
  readonly perform: (repository: HostRepository, key: CiKey) => Promise<void>;
};

type CiOptions = {
  readonly store: SandboxStore;
  readonly disk: Disk;
  readonly announce: Announce;
  /** Whether the operator lets repositories run scripts. */
  readonly scripts: boolean;
};

export const testBranchPrefix = 'signalbox/';

/** A number in [0, 1) that follows from the words. */
function chanceOf(...words: readonly (string | number)[]): number {
  return createHash('sha256').update(words.join('\0')).digest().readUIntBE(0, 6) / 2 ** 48;
}

const durationOf = ({ durationMs: { min, max }, seed }: CiSettings, { branch, sha }: CiKey): number =>
  Math.round(min + (max - min) * chanceOf('duration', seed, branch, sha));

const isFlake = ({ flakeRate, seed }: CiSettings, sha: string, attempt: number): boolean =>
  chanceOf('flake', seed, sha, attempt) < flakeRate;

export const checkEvents = (
  { host, owner, name }: HostRepository,
  sha: string,
  checks: readonly Check[],
): HostEvent[] =>
  checks.map((check) => ({ kind: 'check-changed', repository: { host, owner, name }, sha, check }));

export function createCi({ store, disk, announce, scripts }: CiOptions): Ci {
  const start: Ci['start'] = async (repository, settings, key) => {
    const { ci, faults } = settings;
    const delayMs = ci.mode === 'auto' ? durationOf(ci, key) : null;
    const pending = await store.startCi(repository, { ...key, contexts: ci.contexts, delayMs });
    if (pending === null) return;
    await announce(repository, faults, checkEvents(repository, key.sha, pending));
  };

  const outcomeOf = async (
    repository: HostRepository,
    ci: CiSettings,
    { sha, attempt }: CiRecord,
  ): Promise<{ outcome: 'success' | 'failure' | 'error'; log: string }> => {
    let log = '';
    if (ci.script && scripts) {
      const directory = await disk.ensure(repository);
      if ((await findCommit(directory, sha)) === null)
        return { outcome: 'error', log: `There is no commit ${sha}.\n` };
      const result = await runScript(directory, sha, ci.timeoutMs);
      if (!result.passed) return { outcome: 'failure', log: result.log };
      log = result.log;
    }
    if (isFlake(ci, sha, attempt)) return { outcome: 'failure', log: `${log}Attempt ${attempt} is flaky.\n` };
    return { outcome: 'success', log };
  };

  return {
    start,
    repair: async (repository, settings, sha) => {
      const records = await store.listCi(repository, sha);
      if (records.some(({ state }) => state !== 'done')) return;
      const refs = await listRefs(
        await disk.ensure(repository),
        `--points-at=${sha}`,
        `refs/heads/${testBranchPrefix}`,
      ).catch(() => new Map<string, string>());
      for (const ref of refs.keys()) {
        const branch = ref.slice('refs/heads/'.length);
        if (!records.some((record) => record.branch === branch))
          await start(repository, settings, { branch, sha });
      }
    },
    stop: async (repository, { faults }, key) => {
      const cancelled = await store.stopCi(repository, key);
      if (cancelled === null) return false;
      await announce(repository, faults, checkEvents(repository, key.sha, cancelled));
      return true;
    },
    perform: async (repository, key) => {
      const record = await store.findCi(repository, key);
      if (record === null || record.state === 'done') return;
      const { ci, faults } = settingsFrom(await store.findSettings(repository));
      if (ci.mode === 'manual') return;
      await store.markCiRunning(repository, key);
      const { outcome, log } = await outcomeOf(repository, ci, record);
      const checks = await store.endCi(repository, { ...key, outcome, log, contexts: ci.contexts });
      await announce(repository, faults, checkEvents(repository, key.sha, checks));
    },
  };
}
