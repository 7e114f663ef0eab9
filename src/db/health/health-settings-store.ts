// Writes health_settings. It stores only differences from the defaults of core/health/settings.ts.

import type { RepositoryId } from '#base/id.ts';
import {
  completeSettings,
  type ResolvedHealthSettings,
  type HealthSettingsOverrides,
} from '#core/health/settings.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

const selectSettings = statement<[repositoryId: string], { settings: HealthSettingsOverrides }>(
  'select settings from health_settings where repository_id = $1',
);

/** The repository's differences from the defaults; null: none. */
export async function findHealthChange(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<HealthSettingsOverrides | null> {
  return (await selectSettings(db, repositoryId))[0]?.settings ?? null;
}

/** How the repository classifies and quarantines its tests, with the defaults. */
export async function findHealthSettings(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<ResolvedHealthSettings> {
  return completeSettings(await findHealthChange(db, repositoryId));
}

const upsertSettings = statement<[repositoryId: string, settings: string, now: Date]>(`
  insert into health_settings (repository_id, settings, changed_at) values ($1, $2, $3)
  on conflict (repository_id) do update set settings = excluded.settings, changed_at = excluded.changed_at`);

export const saveHealthChange = (
  tx: Tx,
  repositoryId: RepositoryId,
  change: HealthSettingsOverrides,
  now: Date,
): Promise<unknown> => upsertSettings(tx, repositoryId, JSON.stringify(change), now);
