import type { Page } from 'playwright-core';

/** A file of docs/image. */
export type Picture = { readonly name: string; readonly content: Buffer | string };

/** A page of the dashboard from its heading on, without navigation and notices: to its end, or of this height. */
export async function photographContent(page: Page, height = 10_000): Promise<Buffer> {
  const heading = page.getByRole('heading', { level: 1 });
  await heading.waitFor();
  const { x, y } = (await heading.boundingBox())!;
  const clip = { x: x - 16, y: y - 8, width: page.viewportSize()!.width - x + 16, height };
  return page.screenshot({ clip, fullPage: true });
}
