// One test over time, and what quarantine saved.

import { dayMs } from '#base/duration.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { branchClasses } from '#core/health/branch.ts';
import { dayNumber, emptyHistory, type TestCaseHistory } from '#core/health/history.ts';
import { evaluate } from '#core/health/monitor/monitor.ts';
import { describeBy, monitorIds, monitors as knownMonitors } from '#core/health/monitor/monitors.ts';
import { type ResolvedHealthSettings, defaultHealthSettings } from '#core/health/settings.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { RepositoryId } from '#base/id.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { findContinuedHistories, type WatchedTest } from '#db/health/history-store.ts';
import { failuresOfRepositoryMax, readQuarantineSummary } from '#db/health/quarantine-gain-view.ts';
import {
  type ChangeRow,
  type FailureDay,
  failuresMax,
  listFailureDays,
  listFailureGroups,
  listHitPullRequests,
  listTestChanges,
  listTestMutes,
  type TestMute,
} from '#db/health/test-history-view.ts';
import { findTestDetails, type TestDetailsRow } from '#db/health/test-view.ts';
import { type Context, type Handlers, knownRepository, requireOrganization } from '../endpoint/context.ts';
import { noSuchTest } from './test-health.ts';

type TestHistoryAnswer = ResponseOf<'getTestHistory'>;

export const testHistoryHandlers: Handlers<'getTestHistory' | 'getQuarantineSummary'> = {
  getTestHistory: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const { reader } = context.cell;
    const test = repository && (await findTestDetails(reader, repository.id, input.test_id, context.now));
    if (!test) throw noSuchTest(input.test_id);
    return readHistory(context, repository.id, test, input.days);
  },

  getQuarantineSummary: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const { cell, now } = context;
    const settings = repository
      ? await findHealthSettings(cell.reader, repository.id)
      : defaultHealthSettings;
    const summary = repository && (await readQuarantineSummary(cell.reader, repository.id, now));
    return {
      is_enabled: settings.quarantine.enabled,
      quarantined_tests: summary?.tests ?? 0,
      held_back_tests: summary?.held_back ?? 0,
      set_by_people: summary?.always ?? 0,
      expiring_within_7d: summary?.expiring ?? 0,
      failures_excused_last_30d: summary?.failures ?? 0,
      pull_requests_spared_last_30d: summary?.pull_requests ?? 0,
      is_cut: (summary?.looked ?? 0) >= failuresOfRepositoryMax,
    };
  },
};

async function readHistory(
  { cell: { reader }, now }: Context,
  repositoryId: RepositoryId,
  test: TestDetailsRow,
  days: number,
): Promise<TestHistoryAnswer> {
  const first = dayNumber(now.getTime()) - days + 1;
  const since = new Date(first * dayMs);
  const ofTest = [reader, repositoryId, test.id] as const;
  const [failureDays, groups, pullRequests, changes, mutes, settings, [watched]] = await Promise.all([
    listFailureDays(...ofTest, since),
    listFailureGroups(...ofTest, since),
    listHitPullRequests(...ofTest, since),
    listTestChanges(...ofTest),
    listTestMutes(...ofTest, now),
    findHealthSettings(reader, repositoryId),
    findContinuedHistories(reader, repositoryId, [test.id]),
  ]);
  const counted = failureDays.reduce((sum, day) => sum + day.failed + day.flaky + day.suspect, 0);
  const all = mutes.find(({ monitor }) => monitor === '*');
  return {
    since: dayText(first),
    days: [...presentDays(watched?.history ?? emptyHistory, failureDays, first)],
    is_cut: counted >= failuresMax,
    failures: groups.map(({ flake_count, ...group }) => ({
      ...group,
      last_occurrence: group.last_occurrence.toISOString(),
      is_flake: flake_count > 0,
    })),
    pull_requests: pullRequests.map((hit) => ({
      ...hit,
      last_failed_at: hit.last_failed_at.toISOString(),
      target_branches: [...hit.target_branches],
    })),
    monitors: test.ordinal === null ? [] : [...presentMonitors(test, watched, settings, mutes, now)],
    all_muted_until: all?.until.toISOString() ?? null,
    all_mute_reason: all?.reason ?? null,
    changes: changes.map(presentChange),
  };
}

const dayText = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** Runs are known for the days of the stored history; failures also for earlier days. */
function presentDays(
  history: TestCaseHistory,
  failureDays: readonly FailureDay[],
  first: number,
): TestHistoryAnswer['days'] {
  const days = new Map<string, TestHistoryAnswer['days'][number]>();
  const dayKey = (day: string, branchClass: string) =>
    `${day} ${branchClasses.findIndex((known) => known === branchClass)}`;
  for (const { day, branch_class, ...counts } of failureDays)
    days.set(dayKey(day, branch_class), { day, branch_class, runs: null, contradicted: 0, ...counts });
  for (const { day, branchClass, runs, failed, contradicted } of history.days) {
    if (day < first) continue;
    const text = dayText(day);
    const known = days.get(dayKey(text, branchClass));
    days.set(dayKey(text, branchClass), {
      day: text,
      branch_class: branchClass,
      runs,
      failed,
      flaky: known?.flaky ?? 0,
      suspect: known?.suspect ?? 0,
      contradicted,
    });
  }
  return [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
}

function presentMonitors(
  test: TestDetailsRow,
  watched: WatchedTest | undefined,
  settings: ResolvedHealthSettings,
  mutes: readonly TestMute[],
  now: Date,
): TestHistoryAnswer['monitors'] {
  const history = watched?.history ?? emptyHistory;
  const before = {
    mutes: [],
    manualStatus: test.manual_status as HealthStatus | null,
    wasActive: watched?.activeMonitors ?? [],
  };
  const { monitors } = evaluate(history, settings, before, now.getTime());
  return monitorIds.map((monitor) => {
    const state = monitors.find((known) => known.monitor === monitor);
    const mute = mutes.find((known) => known.monitor === monitor);
    const evidence = state?.evidence ?? '';
    return {
      monitor,
      says: knownMonitors[monitor].says,
      is_on: settings.monitors[monitor].isOn,
      is_active: state?.isActive ?? false,
      sees:
        evidence === ''
          ? describeBy(monitor, history, settings.monitors, now.getTime())
          : `${evidence.charAt(0).toUpperCase()}${evidence.slice(1)}.`,
      muted_until: mute?.until.toISOString() ?? null,
      mute_reason: mute?.reason ?? null,
    };
  });
}

/** What landed between the two commits, in a sentence. */
function describeRange(after: ChangeRow['after']): string {
  const count = Number(after['candidate_count'] ?? 0);
  const [passed, failed] = [after['passed_sha'], after['failed_sha']].map((sha) =>
    stringOrEmpty(sha).slice(0, 7),
  );
  return `between ${passed || 'an unknown commit'} and ${failed} ${count === 1 ? '1 change' : `${count} changes`} landed`;
}

const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

const changedValue = {
  status_changed: 'value',
  quarantining_setting_changed: 'setting',
  quarantine_held_back: 'reason',
  fix_verification_changed: 'state',
} as const;

const reasonField: { readonly [Kind in ChangeRow['kind']]?: string } = {
  monitor_status_changed: 'evidence',
  renamed: 'former_name',
};

/** The old and the new value, in short form. */
function presentChange({
  recorded_at,
  kind,
  before,
  after,
  trigger,
}: ChangeRow): TestHistoryAnswer['changes'][number] {
  const presentValue = (side: ChangeRow['before']): string => {
    if (kind === 'monitor_status_changed') return side['isActive'] === true ? 'active' : 'quiet';
    if (kind === 'renamed') return side['is_carried'] === true ? 'carried' : 'separate';
    if (kind === 'quarantine_ending') return stringOrEmpty(side['endsAt']);
    if (kind === 'breakage_located')
      return typeof side['culprit'] === 'number' ? `#${side['culprit']}` : 'unknown';
    return stringOrEmpty(side[changedValue[kind]]);
  };
  return {
    at: recorded_at.toISOString(),
    kind,
    monitor: typeof after['monitor'] === 'string' ? after['monitor'] : null,
    before: presentValue(before),
    after: presentValue(after),
    reason:
      kind === 'quarantine_held_back'
        ? ''
        : kind === 'breakage_located'
          ? describeRange(after)
          : stringOrEmpty(after[reasonField[kind] ?? 'reason']),
    trigger: trigger.kind,
    upload_id: trigger.kind === 'upload' ? trigger.uploadId : null,
    actor: trigger.kind === 'person' ? trigger.actor : null,
  };
}
