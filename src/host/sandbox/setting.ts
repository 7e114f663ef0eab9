// What can be set on a repository of the sandbox. A setting that is absent has its default.

import type { RequiredCheck } from '#core/queue/check.ts';
import type { Cell } from '#db/cell.ts';
import { findSandboxSettings } from '#db/sandbox/sandbox-ci-store.ts';
import type { HostRepository, Permission } from '../host.ts';

export type CiSettings = {
  /** auto: CI ends after its duration; manual: it waits for `setCheck`. */
  readonly mode: 'auto' | 'manual';
  /** How long CI takes, in milliseconds. Default 1,000 to 3,000. */
  readonly durationMs: { readonly min: number; readonly max: number };
  /** The statuses that CI reports. Default `ci/test`. */
  readonly contexts: readonly string[];
  /** Run ci.sh of the merged tree; its exit code is the outcome. */
  readonly script: boolean;
  /** Milliseconds a script may take. Default 60,000. */
  readonly timeoutMs: number;
  /** Share of attempts that fail although nothing is wrong. 0..1. */
  readonly flakeRate: number;
  /** Decides which attempts those are, together with the commit and the attempt. */
  readonly seed: string;
};

export type SandboxProtection = {
  readonly requiredChecks: readonly string[];
  /** The id of the app that must report a required check, by its name; a name that is absent may come from any. */
  readonly requiredApps: Readonly<Record<string, string>>;
  /** The branch refuses all pushes. */
  readonly refusePushes: boolean;
  /** The refusal that the merge call returns; null: it merges. */
  readonly refuseMerges: string | null;
  /** The merge call accepts only pull requests that contain the tip. */
  readonly needsUpToDate: boolean;
};

export type Faults = {
  readonly webhooks: 'deliver' | 'drop' | 'double';
  /** Each webhook is late by up to this many milliseconds, so that they overtake each other. */
  readonly shuffleMs: number;
  readonly answers: 'ok' | '5xx' | 'timeout' | 'rate_limited' | 'forbidden';
  /** When answers become `ok` again (ISO 8601); null: when they are reset. */
  readonly answersUntil: string | null;
};

export type SandboxSettings = {
  readonly ci: CiSettings;
  /** Which pushes CI runs for: those to test branches, or also those to other branches and pull requests. */
  readonly ciOn: 'test_branches' | 'all';
  /** By branch; null: not protected. A branch that is absent requires what CI reports. */
  readonly protection: Readonly<Record<string, SandboxProtection | null>>;
  /** Permissions of people, by login in lower case; `*` is everyone else. */
  readonly people: Readonly<Record<string, Permission>>;
  readonly faults: Faults;
};

const noRules: SandboxProtection = {
  requiredChecks: [],
  requiredApps: {},
  refusePushes: false,
  refuseMerges: null,
  needsUpToDate: false,
};

const defaults: SandboxSettings = {
  ci: {
    mode: 'auto',
    durationMs: { min: 1_000, max: 3_000 },
    contexts: ['ci/test'],
    script: false,
    timeoutMs: 60_000,
    flakeRate: 0,
    seed: '',
  },
  ciOn: 'test_branches',
  protection: {},
  people: { '*': 'write' },
  faults: { webhooks: 'deliver', shuffleMs: 0, answers: 'ok', answersUntil: null },
};

/** Given settings change, the rest stays; a branch's protection is replaced as a whole. */
export type SettingsPatch = {
  readonly ci?: Partial<CiSettings>;
  readonly ciOn?: SandboxSettings['ciOn'];
  readonly protection?: SandboxSettings['protection'];
  readonly people?: SandboxSettings['people'];
  readonly faults?: Partial<Faults>;
};

export function withPatch(settings: SandboxSettings, patch: SettingsPatch): SandboxSettings {
  return {
    ci: { ...settings.ci, ...patch.ci },
    ciOn: patch.ciOn ?? settings.ciOn,
    protection: { ...settings.protection, ...completed(patch.protection) },
    people: { ...settings.people, ...lowerCased(patch.people) },
    faults: { ...settings.faults, ...patch.faults },
  };
}

/** Rules that were stored by a version with fewer fields. */
const completed = (protection: SandboxSettings['protection'] = {}): SandboxSettings['protection'] =>
  Object.fromEntries(
    Object.entries(protection).map(([branch, rules]) => [branch, rules && { ...noRules, ...rules }]),
  );

const lowerCased = (people: SandboxSettings['people'] = {}): SandboxSettings['people'] =>
  Object.fromEntries(
    Object.entries(people).map(([person, permission]) => [person.toLowerCase(), permission]),
  );

/** The settings as they were stored, perhaps by an older version. */
export const settingsFrom = (stored: unknown): SandboxSettings =>
  withPatch(defaults, stored === null ? {} : (stored as SettingsPatch));

export const loadSettings = async (cell: Cell, { id }: HostRepository): Promise<SandboxSettings> =>
  settingsFrom(await findSandboxSettings(cell.reader, id));

export function listRequiredChecks(
  settings: SandboxSettings,
  branch: string,
): readonly RequiredCheck[] | null {
  const rules = findProtection(settings, branch);
  if (rules === null) return null;
  return rules.requiredChecks.map((name) => {
    const app = Object.hasOwn(rules.requiredApps, name) ? rules.requiredApps[name] : undefined;
    return { name, source: app === undefined ? null : `app:${app}` };
  });
}

/** Null: not protected. */
export function findProtection(
  { ci, protection }: SandboxSettings,
  branch: string,
): SandboxProtection | null {
  const own = Object.hasOwn(protection, branch) ? protection[branch] : undefined;
  return own === undefined ? { ...noRules, requiredChecks: ci.contexts } : own;
}

export function permissionIn({ people }: SandboxSettings, person: string): Permission {
  const key = person.toLowerCase();
  return (Object.hasOwn(people, key) ? people[key] : people['*']) ?? 'none';
}
