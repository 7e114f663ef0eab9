// The rules of the branches while a soak runs. Every branch requires `ci/test`, which the sandbox's CI reports; for some
// seconds, again and again, a branch also requires `soak/gate`, from one App alone. This file changes the rules and
// reports the gate on every test commit; what was in force when is remembered, and verify.ts holds it against what landed.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';
import { repository } from './drive.ts';
import type { Line } from './workload.ts';

export type Required = {
  readonly name: string;
  /** The id of the App that must report it; null: the rule names none. */
  readonly app: string | null;
};

/** Rules that a branch got: at some instant between `askedAt` and `answeredAt`. */
type Change = {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly required: readonly Required[];
};

export type RuleJournal = ReadonlyMap<string, readonly Change[]>;

const gateApp = '4242';
const narrow: readonly Required[] = [{ name: 'ci/test', app: null }];
const wide: readonly Required[] = [...narrow, { name: 'soak/gate', app: gateApp }];

/** Rules stay for this long before they change again. */
const changeMs = 4_000;
const reportMs = 250;

export type RuleChanges = {
  readonly journal: RuleJournal;
  /** Ends when the signal is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
};

/** Sets the first rules of each branch, which must be there. */
export async function startRules(client: Client, lines: readonly Line[]): Promise<RuleChanges> {
  const journal = new Map<string, Change[]>(lines.map(({ branch }) => [branch, []]));
  const setRules = async (branch: string, required: readonly Required[]) => {
    const askedAt = Date.now();
    const bound = required.flatMap(({ name, app }) => (app === null ? [] : [[name, app]]));
    const rules = {
      requiredChecks: required.map(({ name }) => name),
      requiredApps: Object.fromEntries(bound) as Record<string, string>,
    };
    await client.call('sandboxConfigureRepository', { repo: repository, protection: { [branch]: rules } });
    journal.get(branch)!.push({ askedAt, answeredAt: Date.now(), required });
  };
  for (const { branch } of lines) await setRules(branch, narrow);
  return {
    journal,
    run: async (signal) => {
      await Promise.all([
        changeRules(lines, setRules, signal),
        ...lines.map((line) => reportGate(client, line, signal)),
      ]);
    },
  };
}

const within = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined);

/** One branch after the other gets the wider rules, and the narrow ones again. */
async function changeRules(
  lines: readonly Line[],
  setRules: (branch: string, required: readonly Required[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await within(changeMs, signal);
    const { branch } = lines[Math.floor(turn / 2) % lines.length]!;
    await setRules(branch, !signal.aborted && turn % 2 === 0 ? wide : narrow);
  }
  for (const { branch } of lines) await setRules(branch, narrow);
}

/** The App of the gate: it passes every test commit, a moment after it was pushed. */
async function reportGate(client: Client, { branch }: Line, signal: AbortSignal): Promise<void> {
  const done = new Set<string>();
  while (!signal.aborted) {
    const answer = await client.call('getMergeQueueTestingDetails', {
      repo: repository,
      targetBranch: branch,
    });
    for (const { testBranchSha: sha } of 'testRuns' in answer ? answer.testRuns : []) {
      if (sha === null || done.has(sha)) continue;
      await client.call('sandboxSetCheck', {
        repo: repository,
        sha,
        name: 'soak/gate',
        state: 'success',
        app: gateApp,
      });
      done.add(sha);
    }
    await within(reportMs, signal);
  }
}

/** A landing reads the rules and then pushes: a change within this time may have come in between. */
const slackMs = 10_000;

/** What a branch certainly required at an instant: the checks of all rules that may have been in force shortly before. */
export function requiredAt(journal: RuleJournal, branch: string, at: number): readonly Required[] {
  const changes = journal.get(branch) ?? [];
  const inForce = changes.filter(
    ({ askedAt }, index) => askedAt <= at && (changes[index + 1]?.answeredAt ?? Infinity) >= at - slackMs,
  );
  const [first, ...others] = inForce;
  return (first?.required ?? []).filter(({ name }) =>
    others.every(({ required }) => required.some((other) => other.name === name)),
  );
}
