// The CI of the sandbox. A push starts it: a pending status for each context, and a job that ends it when it
// is due. The same commit on another branch is another attempt: its statuses start again as pending.
//
// The outcome depends on the script (if the repository has CI run one) and on a pseudo-random number from the
// seed, the commit and the attempt: a scenario with flaky tests can be replayed.

import { createHash } from 'node:crypto';
import type { Check } from '#core/queue/check.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { Cell } from '#db/cell.ts';
import {
  type SandboxCiKey,
  type SandboxCiRow,
  endSandboxCi,
  findSandboxCi,
  listSandboxCi,
  markSandboxCiRunning,
  startSandboxCi,
  stopSandboxCi,
} from '#db/sandbox/sandbox-ci-store.ts';
import type { HostRepository } from '../host.ts';
import type { Announce } from './announce.ts';
import type { Disk } from './disk.ts';
import { findCommit, listRefs } from './git.ts';
import { runScript } from './script.ts';
import { type CiSettings, loadSettings, type SandboxSettings } from './setting.ts';

export type Ci = {
  readonly start: (repository: HostRepository, settings: SandboxSettings, key: SandboxCiKey) => Promise<void>;
  /** Starts CI for pushes that were not noticed. */
  readonly repair: (repository: HostRepository, settings: SandboxSettings, sha: string) => Promise<void>;
  /** Ends CI that is under way; returns whether there was any. */
  readonly stop: (
    repository: HostRepository,
    settings: SandboxSettings,
    key: SandboxCiKey,
  ) => Promise<boolean>;
  /** What the job does when CI is due. */
  readonly perform: (repository: HostRepository, key: SandboxCiKey) => Promise<void>;
};

type SandboxCiOptions = {
  readonly cell: Cell;
  readonly disk: Disk;
  readonly announce: Announce;
  /** Whether the operator lets repositories run scripts. */
  readonly scripts: boolean;
};

export const testBranchPrefix = 'signalbox/';

/** A number in [0, 1) that is determined by the arguments. */
function pseudoRandom(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(parts.join('\0')).digest().readUIntBE(0, 6) / 2 ** 48;
}

const pickDuration = (
  { durationMs: { min, max }, seed }: CiSettings,
  { branch, sha }: SandboxCiKey,
): number => Math.round(min + (max - min) * pseudoRandom('duration', seed, branch, sha));

const isFlake = ({ flakeRate, seed }: CiSettings, sha: string, attempt: number): boolean =>
  pseudoRandom('flake', seed, sha, attempt) < flakeRate;

export const checkEvents = (
  { host, owner, name }: HostRepository,
  sha: string,
  checks: readonly Check[],
): HostEvent[] =>
  checks.map((check) => ({ kind: 'check-changed', repository: { host, owner, name }, sha, check }));

export function createCi({ cell, disk, announce, scripts }: SandboxCiOptions): Ci {
  const start: Ci['start'] = async (repository, settings, key) => {
    const { ci, faults } = settings;
    const delayMs = ci.mode === 'auto' ? pickDuration(ci, key) : null;
    const pending = await startSandboxCi(cell, repository.id, { ...key, contexts: ci.contexts, delayMs });
    if (pending === null) return;
    await announce(repository, faults, checkEvents(repository, key.sha, pending));
  };

  const runCi = async (
    repository: HostRepository,
    ci: CiSettings,
    { sha, attempt }: SandboxCiRow,
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
      const records = await listSandboxCi(cell.reader, repository.id, sha);
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
      const cancelled = await stopSandboxCi(cell, repository.id, key);
      if (cancelled === null) return false;
      await announce(repository, faults, checkEvents(repository, key.sha, cancelled));
      return true;
    },
    perform: async (repository, key) => {
      const record = await findSandboxCi(cell.reader, repository.id, key);
      if (record === null || record.state === 'done') return;
      const { ci, faults } = await loadSettings(cell, repository);
      if (ci.mode === 'manual') return;
      await markSandboxCiRunning(cell.db, repository.id, key);
      const { outcome, log } = await runCi(repository, ci, record);
      const checks = await endSandboxCi(cell, repository.id, { ...key, outcome, log, contexts: ci.contexts });
      await announce(repository, faults, checkEvents(repository, key.sha, checks));
    },
  };
}
