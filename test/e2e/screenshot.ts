// A page as a person sees it, in Debian's Chromium.
//
// A Gitea that is built from its Go module has none of its scripts, and its pages say so in a dialog. For that,
// `chromium --screenshot` waits for ever; Playwright closes it.

import type { Page } from 'playwright-core';
import { launchChromium } from '../../script/browser.ts';

const timeoutMs = 30_000;
const width = 1200;
const height = 1600;

/** The classes of Tailwind's that matter most, which that Gitea has not either (test/gitea/build.ts). */
const tailwind = `
  .tw-hidden { display: none !important; }
  .tw-flex { display: flex !important; }
  .tw-flex-1 { flex: 1 1 0% !important; }
  .tw-ml-auto { margin-left: auto !important; }
  .tw-ml-2 { margin-left: 8px !important; }
  .tw-text-green { color: var(--color-green) !important; }
  .tw-text-red { color: var(--color-red) !important; }
`;

/** Opens a page, and reports an answer that is not a success. Nothing is loaded from other sites. */
export async function showPage(page: Page, url: string): Promise<void> {
  page.setDefaultTimeout(timeoutMs);
  const { origin } = new URL(url);
  await page.route(
    (wanted) => wanted.origin !== origin,
    async (route) => route.abort(),
  );
  const response = await page.goto(url, { waitUntil: 'load' });
  if (!response?.ok()) throw new Error(`${url} answers ${response?.status()}.`);
  await page.addStyleTag({ content: tailwind });
}

export async function takeScreenshot(url: string, file: string): Promise<void> {
  const browser = await launchChromium({ timeout: timeoutMs });
  try {
    const page = await browser.newPage({ viewport: { width, height } });
    await showPage(page, url);
    await page.screenshot({ path: file });
  } finally {
    await browser.close();
  }
}
