// Keys that all API processes of an installation must agree on, one for each cell and purpose: made from the configured
// key, else the cell keeps one.

import { hkdfSync } from 'node:crypto';
import { createShelf } from '#base/shelf.ts';
import type { Cell } from '#db/cell.ts';
import { ensureServerKey } from '#db/server-key-store.ts';
import type { Deps } from './deps.ts';

/** The key of a cell; asked for once. */
export type KeyOf = (cell: Cell) => Promise<Buffer>;

export function cellKeys({ config: { secretKey } }: Pick<Deps, 'config'>, purpose: string): KeyOf {
  if (secretKey !== null)
    return (cell) =>
      Promise.resolve(Buffer.from(hkdfSync('sha256', secretKey, '', `${purpose} ${cell.name}`, 32)));
  const { recall } = createShelf<Buffer>(() => 0, Infinity);
  return (cell) => recall(cell.name, () => ensureServerKey(cell.db, purpose));
}
