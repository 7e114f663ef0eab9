// A page as a person sees it, in a real Chromium.

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--hide-scrollbars',
  '--window-size=1200,1600',
  // A page that goes on loading is taken as it is by then.
  '--timeout=15000',
];

export async function takeScreenshot(url: string, file: string): Promise<void> {
  const profile = mkdtempSync(join(tmpdir(), 'signalbox-chromium-'));
  try {
    const args = [...flags, `--user-data-dir=${profile}`, `--screenshot=${file}`, url];
    await promisify(execFile)('chromium', args, { timeout: 60_000 });
    if (!existsSync(file)) throw new Error(`Chromium gave no picture of ${url}.`);
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}
