// Debian's Chromium, driven by playwright-core.

import { type Browser, chromium } from 'playwright-core';

export const launchChromium = (options: { readonly timeout?: number } = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    // With it Chromium does not start as root, as whom containers run; what it shows here is our own.
    chromiumSandbox: false,
    ...options,
  });
