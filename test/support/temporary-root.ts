import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memory = '/dev/shm';
const roomMin = 4 * 2 ** 30;

/** In memory if there is room: git syncs what it writes, and tests write thousands of small repositories. */
export function temporaryRoot(): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= roomMin ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}
