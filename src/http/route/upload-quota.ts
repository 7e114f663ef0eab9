// Unreviewed code may be able to read a token whose only scope is upload: what is sent with it is counted by the day.

import { takeUploadQuota } from '#db/account/token-use-store.ts';
import { type Context, isUnreviewed } from '../endpoint/context.ts';
import { overQuota } from '../guard/upload-address.ts';

/** The token, if what is sent with it is counted. */
export const countedToken = ({ scope: { principal } }: Context): string | null =>
  principal.kind === 'token' && isUnreviewed(principal) ? principal.id : null;

/** Counts an upload against the quotas of its token. */
export async function takeQuota(context: Context, bytes: number): Promise<void> {
  const { cell, deps, now } = context;
  const token = countedToken(context);
  if (token === null) return;
  const use = { uploads: 1, bytes } as const;
  if (!(await takeUploadQuota(cell.db, token, use, deps.config.upload.quota, now))) throw overQuota(now);
}
