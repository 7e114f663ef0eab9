// The event that CI runs for, where it tells of it.

import { readFileSync } from 'node:fs';
import type { CiEnv } from '#config/ci.ts';

/** What CI left in the file that describes the event; null: none, or nothing of use. */
export function readEvent(env: CiEnv): unknown {
  try {
    return JSON.parse(readFileSync(env['GITHUB_EVENT_PATH'] ?? '', 'utf8'));
  } catch {
    return null;
  }
}
