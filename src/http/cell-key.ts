// Keys that all API processes of an installation must agree on, one for each cell and purpose: made from the configured
// key, else the cell keeps one.

import { hkdfSync } from 'node:crypto';
import { createShelf } from '#base/shelf.ts';
import type { Cell } from '#db/cell.ts';
import { keysOf, type SecretKey } from '#db/seal.ts';
import { ensureServerKey } from '#db/server-key-store.ts';
import type { Deps } from './deps.ts';

/** The key of a cell, with those made from keys that were replaced; asked for once. */
export type KeyOf = (cell: Cell) => Promise<SecretKey>;

export function cellKeys({ config: { secretKey } }: Pick<Deps, 'config'>, purpose: string): KeyOf {
  if (secretKey !== null)
    return (cell) => {
      const derived = (key: Buffer) =>
        Buffer.from(hkdfSync('sha256', key, '', `${purpose} ${cell.name}`, 32));
      const [active, ...previous] = keysOf(secretKey);
      return Promise.resolve([derived(active), ...previous.map(derived)]);
    };
  const { recall } = createShelf<Buffer>(() => 0, Infinity);
  return (cell) => recall(cell.name, () => ensureServerKey(cell.db, purpose));
}
