// Which failures are excused, and what people decide about tests.

import { createHash } from 'node:crypto';
import { v5 } from 'uuid';
import { hourMs } from '#base/duration.ts';
import {
  changeHealthSettings,
  flagTest,
  muteMonitor,
  setQuarantine,
  type TestChange,
} from '#command/override-test.ts';
import type { RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { AskedTest } from '#contract/health/new-test.ts';
import { settingsFromWire, settingsToWire } from '#contract/health/health-settings.ts';
import { stableName } from '#core/health/stable-name.ts';
import { testCaseId } from '#core/health/identity.ts';
import { findNewTests } from '#command/find-new-tests.ts';
import { createMessageReader, type MessageReader } from '#core/health/fingerprint/known-message.ts';
import { isExcused } from '#core/health/quarantine/quarantine.ts';
import { defaultHealthSettings } from '#core/health/settings.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { findMute, type OverrideRow } from '#db/health/override-store.ts';
import { findQuarantined, listQuarantinedIds, type QuarantinedTest } from '#db/health/quarantine-view.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import {
  auditorFrom,
  type Context,
  ensuredRepository,
  type Handlers,
  knownRepository,
  requireOrganization,
} from '../endpoint/context.ts';

import { type TestHealthRequest, noSuchTest } from './test-health.ts';

export const quarantineHandlers: Handlers<
  | 'getQuarantineConfig'
  | 'listNewTests'
  | 'setQuarantine'
  | 'flagTest'
  | 'muteMonitor'
  | 'getHealthSettings'
  | 'updateHealthSettings'
> = {
  getQuarantineConfig: async (context, input) => {
    requireOrganization(context, input.orgUrlSlug);
    const repository = knownRepository(context, input.repo);
    if (repository === null) return { isDisabled: !defaultHealthSettings.quarantine.enabled, testIds: [] };
    // Both are read at once, which takes one round trip.
    const [settings, excused] = await Promise.all([
      findHealthSettings(context.cell.reader, repository.id),
      excusedIds(context, repository, input),
    ]);
    if (!settings.quarantine.enabled) return { isDisabled: true, testIds: [] };
    return { isDisabled: false, testIds: [...excused] };
  },

  listNewTests: async (context, input) => {
    const repository = knownRepository(context, input.repo);
    if (repository === null) return { new_tests: [], is_branch_known: false };
    const { organizationSlug } = context.scope.principal;
    const resolve = ({ classname, parent, file, id, variant = '' }: AskedTest, name: string) =>
      resolveTestId(organizationSlug, repository, {
        name,
        className: classname,
        parentName: parent,
        file,
        // Each variant of a test with an id of its own is a separate test.
        id: id === undefined || variant === '' ? id : hashToUuid(`${id.toLowerCase()}#${variant}`),
        variant,
      });
    // A test may be stored by the stable part of its name.
    const asked = input.tests.map((test) => ({
      id: resolve(test, test.name),
      stableId: resolve(test, stableName(test.name)),
    }));
    const ids = [...new Set(asked.flatMap(({ id, stableId }) => [id, stableId]))];
    const { newIds, isBranchKnown } = await findNewTests(context.cell, repository.id, ids, context.now);
    const isNew = ({ id, stableId }: (typeof asked)[number]) => newIds.has(id) && newIds.has(stableId);
    return {
      new_tests: asked.flatMap((test, place) => (isNew(test) ? [place] : [])),
      is_branch_known: isBranchKnown,
    };
  },

  setQuarantine: async (context, input) => {
    const row = await setQuarantine(testChange(context, input), {
      setting: input.quarantine_setting,
      expiresAt: input.expires_at ?? null,
      owner: input.owner ?? null,
      note: input.note ?? null,
    });
    return present(row, input.test_case_id);
  },

  flagTest: async (context, input) =>
    present(await flagTest(testChange(context, input), input.status, input.note ?? null), input.test_case_id),

  muteMonitor: async (context, input) => {
    const { monitor, reason, hours, test_case_id: testId } = input;
    const change = testChange(context, input);
    const inHours = (given: number) => new Date(context.now.getTime() + given * hourMs);
    const until = input.until ?? (typeof hours === 'number' ? inHours(hours) : null);
    if ((await muteMonitor(change, { monitor, until, reason })) === null) throw noSuchTest(testId);
    const mute = await findMute(context.cell.db, change.repository.id, testId, monitor);
    return { test_case_id: testId, monitor, muted_until: mute?.until.toISOString() ?? null };
  },

  getHealthSettings: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const settings =
      repository === null
        ? defaultHealthSettings
        : await findHealthSettings(context.cell.reader, repository.id);
    return { settings: settingsToWire(settings) };
  },

  updateHealthSettings: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = await ensuredRepository(context, input.repo);
    const { cell } = context;
    const changes = settingsFromWire(input.settings);
    const settings = await changeHealthSettings({ cell, repository, by: auditorFrom(context) }, changes);
    return { settings: settingsToWire(settings) };
  },
};

export function testChange(
  context: Context,
  input: TestHealthRequest & { readonly test_case_id: string },
): TestChange {
  requireOrganization(context, input.org_url_slug);
  const repository = knownRepository(context, input.repo);
  if (repository === null) throw noSuchTest(input.test_case_id);
  const { cell } = context;
  return { cell, repository, testCaseId: input.test_case_id, by: auditorFrom(context) };
}

function present(row: OverrideRow | null, testCaseIdAsked: string): ResponseOf<'setQuarantine'> {
  if (row === null) throw noSuchTest(testCaseIdAsked);
  return {
    test_case_id: row.id,
    status: row.status,
    manual_status: row.manual_status,
    quarantine_setting: row.quarantine_setting,
    quarantined: row.quarantined_at !== null,
    held_back: row.quarantine_held_back,
    expires_at: row.quarantine_expires_at?.toISOString() ?? null,
    owner: row.quarantine_owner,
    owners: row.quarantine_owners,
    note: row.quarantine_note,
  };
}

type Identifier = NonNullable<RequestOf<'getQuarantineConfig'>['testIdentifiers']>[number];

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const hashToUuid = (text: string): string => v5(text, v5.URL);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The tests whose failure, as far as the client describes it, is the test's own fault. */
async function excusedIds(
  context: Context,
  repository: RepositoryRecord,
  { testIdentifiers }: RequestOf<'getQuarantineConfig'>,
): Promise<ReadonlySet<string>> {
  const { cell, now, scope } = context;
  if (!testIdentifiers || testIdentifiers.length === 0)
    return new Set(await listQuarantinedIds(cell.reader, repository.id, now));
  const resolve = (identifier: Identifier) =>
    resolveTestId(scope.principal.organizationSlug, repository, identifier);
  // The answer names the ids of the client, also if the test is stored by the stable part of its name.
  const asked = testIdentifiers.map((identifier) => ({
    id: resolve(identifier),
    stableId: resolve({ ...identifier, name: stableName(identifier.name ?? '') }),
    identifier,
  }));
  const ids = [...new Set(asked.map(({ id }) => id))];
  const storedIds = [...new Set(asked.flatMap(({ id, stableId }) => [id, stableId]))];
  const found = await findQuarantined(cell.reader, repository.id, storedIds, now);
  const byId = new Map(found.map((test) => [test.id, test]));
  const reader = createMessageReader(sha256);
  const isGood = ({ id, stableId, identifier }: (typeof asked)[number]) => {
    const test = byId.get(id) ?? byId.get(stableId);
    return test !== undefined && excuses(test, identifier, reader);
  };
  // If one failure of a test is not excused, none of that test's failures is.
  const bad = new Set(asked.filter((row) => !isGood(row)).map(({ id }) => id));
  return new Set(ids.filter((id) => !bad.has(id)));
}

function resolveTestId(
  organizationSlug: string,
  repository: RepositoryRecord,
  identifier: Identifier,
): string {
  const own = (identifier.id ?? '').toLowerCase();
  if (uuid.test(own)) return own;
  const { name, parentName, className, file, variant } = identifier;
  return testCaseId(
    {
      organizationSlug,
      repository,
      file: file ?? '',
      classname: className ?? '',
      parent: parentName ?? '',
      name: name ?? '',
      variant: variant ?? '',
    },
    hashToUuid,
  );
}

/** Without a message only the quarantine counts; with one, the test must be known to fail in this way. */
function excuses(
  test: QuarantinedTest,
  { failure_message: message, name }: Identifier,
  reader: MessageReader,
): boolean {
  if (typeof message !== 'string' || message === '') return true;
  const flakes = { keys: test.flakes, summaries: test.flake_summaries };
  return isExcused({
    isQuarantined: true,
    setting: test.quarantine_setting,
    fingerprints: [message],
    known: reader.isKnown(message, name ?? '', flakes) ? [message] : [],
  });
}
