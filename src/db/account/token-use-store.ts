// Writes api_token_use: how much upload-only tokens have used of their quotas, by day in UTC.

import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** The daily limits of an upload-only token. */
export type UploadQuota = { readonly uploads: number; readonly bytes: number };

const takeUse = statement<
  [tokenId: string, day: string, uploads: number, bytes: number, uploadsMax: number, bytesMax: number],
  { uploads: number }
>(`
  insert into api_token_use as u (api_token_id, day, uploads, bytes) values ($1, $2::date, $3, $4)
  on conflict (api_token_id, day) do update set uploads = u.uploads + $3, bytes = u.bytes + $4
    where u.uploads + $3 <= $5 and u.bytes < $6
  returning uploads`);

const formatUtcDay = (now: Date): string => now.toISOString().slice(0, 10);

/** Counts an upload, or bytes of a counted one; false: the daily quota is used up, and nothing is counted. */
export async function takeUploadQuota(
  db: Tx,
  tokenId: string,
  use: { readonly uploads: 0 | 1; readonly bytes: number },
  quota: UploadQuota,
  now: Date,
): Promise<boolean> {
  const rows = await takeUse(
    db,
    tokenId,
    formatUtcDay(now),
    use.uploads,
    use.bytes,
    quota.uploads,
    quota.bytes,
  );
  return rows.length > 0;
}

/** Seconds until the next day begins. */
export const secondsToNextDay = (now: Date): number =>
  Math.ceil((Date.parse(`${formatUtcDay(now)}T24:00:00.000Z`) - now.getTime()) / 1_000);
