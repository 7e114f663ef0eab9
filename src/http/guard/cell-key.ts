// Keys that all API processes of an installation must agree on, one for each cell and purpose: derived from
// the configured key, else stored in the cell.

import { hkdfSync } from 'node:crypto';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { Cell } from '#db/cell.ts';
import { listSecretKeys, type SecretKey } from '#db/seal.ts';
import { ensureServerKey } from '#db/account/server-key-store.ts';
import type { Deps } from '../deps.ts';

/** The key of a cell, with those derived from replaced keys; read once. */
export type KeyOf = (cell: Cell) => Promise<SecretKey>;

export function cellKeys({ config: { secretKey } }: Pick<Deps, 'config'>, purpose: string): KeyOf {
  if (secretKey !== null)
    return (cell) => {
      const derived = (key: Buffer) =>
        Buffer.from(hkdfSync('sha256', key, '', `${purpose} ${cell.name}`, 32));
      const [active, ...previous] = listSecretKeys(secretKey);
      return Promise.resolve([derived(active), ...previous.map(derived)]);
    };
  const keys = createTtlCache<Buffer>({ max: 10_000 });
  return (cell) => keys.load(cell.name, () => ensureServerKey(cell.db, purpose));
}
