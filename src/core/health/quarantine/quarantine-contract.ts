// What every quarantine has, whether a person or Signalbox began it.
//
//   owner   the one that a person named; else the code owners of the test; else the default owners of the settings
//           (db/health/test-view.ts)
//   end     the instant that a person chose; else `days` after it began
//   room    at most `maxTests`, and at most `maxShare` of the repository's tests, are quarantined
//
// A critical test is never quarantined. A test that should be quarantined and is not is held back, with the reason.
// Who is quarantined keeps its place: if the limits are lowered, no quarantine ends, but no other begins.
//
// A person's quarantine that ends makes the test automatic again. An automatic one ends once the test is no longer
// flaky (monitor/), or at its end while it still is: then the test is held back until it was healthy, otherwise it
// would be quarantined at once. Its end stays the same while the test is broken in between. A person who saves
// the quarantine of a test gives it a new end.
//
// Example. A test is quarantined on 1 November and would stay flaky. On 24 and 30 November its owner is warned, on
// 1 December its failures count again. On 10 December it is healthy, on 20 December flaky: it is quarantined again,
// until 19 January.

import { dayMs } from '#base/duration.ts';
import { matchesBranch } from '../branch.ts';
import type { ResolvedHealthSettings } from '../settings.ts';
import type { HealthStatus } from '../status.ts';
import { isOverrideOver, type QuarantineSetting, shouldQuarantine } from './quarantine.ts';
import { quarantinedMin, type QuarantineSettings } from './quarantine-settings.ts';

/** Why a test that should be quarantined is not. */
export const heldBackReasons = ['CRITICAL', 'CAP_TESTS', 'CAP_SHARE', 'ENDED'] as const;
export type HeldBackReason = (typeof heldBackReasons)[number];

/** Days before an end at which it is announced. */
const warningDays = [1, 7] as const;
type WarningDays = (typeof warningDays)[number];

type QuarantineState = {
  readonly setting: QuarantineSetting;
  readonly isQuarantined: boolean;
  /** Milliseconds; null: it has no end yet. */
  readonly expiresAt: number | null;
  readonly heldBack: HeldBackReason | null;
  /** The last announcement of the end; null: none was due. */
  readonly warnedDays: number | null;
};

type NamedTest = { readonly name: string; readonly file: string | null };

export type ContractFacts = {
  readonly settings: ResolvedHealthSettings;
  readonly before: QuarantineState;
  readonly status: HealthStatus;
  /** The result of `evaluate`. */
  readonly mayAutoQuarantine: boolean;
  readonly test: NamedTest;
};

/** The repository's tests: how many are quarantined, and how many there are (or enough of them to decide). */
export type QuarantineRoom = { readonly quarantined: number; readonly suite: number };

export type DecidedQuarantine = QuarantineState & {
  /** The end is announced now. */
  readonly warning: WarningDays | null;
};

/** Whether the decision needs to know the room that is left. */
export const beginsQuarantine = (facts: ContractFacts, now: number): boolean =>
  !facts.before.isQuarantined && shouldHold(facts, now) && findBar(facts, now) === null;

export function decideQuarantine(facts: ContractFacts, room: QuarantineRoom, now: number): DecidedQuarantine {
  const { settings, before, status } = facts;
  const isOver = isOverrideOver(before.expiresAt, now);
  const setting = isOver ? 'AUTO_QUARANTINE' : before.setting;
  const bar = findBar(facts, now);
  const isWanted = shouldHold(facts, now);
  const fullness =
    isWanted && bar === null && !before.isQuarantined ? findFullness(settings.quarantine, room) : null;
  const isQuarantined = isWanted && bar === null && fullness === null;
  const kept = isOver || (setting === 'AUTO_QUARANTINE' && status === 'healthy') ? null : before.expiresAt;
  const expiresAt = isQuarantined ? (kept ?? now + settings.quarantine.days * dayMs) : kept;
  const heldBack = bar ?? fullness;
  return {
    setting,
    isQuarantined,
    expiresAt,
    heldBack,
    ...decideWarning(before, { isQuarantined, expiresAt }, now),
  };
}

function decideWarning(
  before: QuarantineState,
  { isQuarantined, expiresAt }: Pick<QuarantineState, 'isQuarantined' | 'expiresAt'>,
  now: number,
): Pick<DecidedQuarantine, 'warnedDays' | 'warning'> {
  if (expiresAt === null) return { warnedDays: null, warning: null };
  const reached = reachedWarning(expiresAt, now);
  if (expiresAt !== before.expiresAt) return { warnedDays: reached, warning: null };
  // A test that fails in a row leaves quarantine for a while: its end is announced once it is back.
  const isDue = isQuarantined && reached !== null && reached < (before.warnedDays ?? Infinity);
  return isDue ? { warnedDays: reached, warning: reached } : { warnedDays: before.warnedDays, warning: null };
}

/** The announcement that an end is close enough for. A quarantine that is shorter begins without it. */
export const reachedWarning = (expiresAt: number, now: number): WarningDays | null =>
  warningDays.find((days) => expiresAt - now <= days * dayMs) ?? null;

function shouldHold({ settings, before, status, mayAutoQuarantine }: ContractFacts, now: number): boolean {
  const { setting, expiresAt } = before;
  return shouldQuarantine({ settings, setting, expiresAt, status, mayAutoQuarantine }, now);
}

/** Whatever room is left. */
function findBar(facts: ContractFacts, now: number): HeldBackReason | null {
  const { settings, before, status, test } = facts;
  const isOver = isOverrideOver(before.expiresAt, now);
  const isAutomatic = before.setting === 'AUTO_QUARANTINE';
  if (isAutomatic && status !== 'healthy' && (isOver || before.heldBack === 'ENDED')) return 'ENDED';
  return shouldHold(facts, now) && isCriticalTest(settings.quarantine, test) ? 'CRITICAL' : null;
}

function findFullness(
  { maxTests, maxShare }: QuarantineSettings,
  { quarantined, suite }: QuarantineRoom,
): HeldBackReason | null {
  if (quarantined >= maxTests) return 'CAP_TESTS';
  return quarantined >= Math.max(quarantinedMin, Math.floor(maxShare * suite)) ? 'CAP_SHARE' : null;
}

/** Of so many tests the share allows more than `maxTests`: a larger suite decides the same. */
export const suiteEnough = ({ maxTests, maxShare }: QuarantineSettings): number =>
  maxShare === 0 ? 0 : Math.min(Number.MAX_SAFE_INTEGER, Math.ceil((maxTests + 1) / maxShare));

const isCriticalTest = ({ criticalTests }: QuarantineSettings, { name, file }: NamedTest): boolean =>
  criticalTests.some(
    (pattern) => matchesBranch(pattern, name) || (file !== null && matchesBranch(pattern, file)),
  );
