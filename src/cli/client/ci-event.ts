// Reads the event that CI runs for, if CI provides it.

import { readFileSync } from 'node:fs';
import type { CiEnv } from '#config/ci-environment.ts';

/** The content of CI's event file; null: there is none, or it is not usable. */
export function readEvent(env: CiEnv): unknown {
  try {
    return JSON.parse(readFileSync(env['GITHUB_EVENT_PATH'] ?? '', 'utf8'));
  } catch {
    return null;
  }
}
