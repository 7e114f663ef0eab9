// Pages of the dashboard that need a past: the world of `npm run e2e:web` has ninety days of one queue.

import type { Browser } from 'playwright-core';
import type { Cleanup } from '../bench/fixture.ts';
import { healthPath, openContext } from '../e2e/web-page.ts';
import { openWorld, widgets } from '../e2e/web-world.ts';
import { photographContent, type Picture } from './picture.ts';

export async function photographDashboard(cleanup: Cleanup, browser: Browser): Promise<readonly Picture[]> {
  const world = await openWorld(cleanup);
  const context = await openContext(browser, world, { scheme: 'light', width: 1200 });
  const page = context.pages()[0]!;
  await page.goto(`${world.url}${healthPath(widgets, { range: '30d' })}`);
  await page.locator('canvas').first().waitFor();
  const health = await photographContent(page);
  await context.close();
  return [{ name: 'dashboard-health.png', content: health }];
}
