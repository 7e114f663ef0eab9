// Writes server_key: keys that an installation makes for itself, once for all its processes.

import { randomBytes } from 'node:crypto';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

const insertKey = statement<[name: string, key: Buffer]>(
  'insert into server_key (name, key) values ($1, $2) on conflict (name) do nothing',
);
const selectKey = statement<[name: string], { key: Buffer }>('select key from server_key where name = $1');

/** The key with that name; the first caller creates it. */
export async function ensureServerKey(db: Tx, name: string): Promise<Buffer> {
  const [known] = await selectKey(db, name);
  if (known !== undefined) return known.key;
  await insertKey(db, name, randomBytes(32));
  const [row] = await selectKey(db, name);
  return row!.key;
}
