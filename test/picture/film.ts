// From screenshots to an animation. Chromium compares each screenshot with the one before and encodes the part that
// changed; webp.ts joins the parts. Chromium also reads the result: an animation that it cannot play is an error.

import type { Browser } from 'playwright-core';
import { type Frame, joinFrames } from './webp.ts';

export type Shot = { readonly atMs: number; readonly png: Buffer };

export type Pace = {
  /** How many times faster the animation is than what it shows. */
  readonly speed: number;
  /** A picture that stays the same is shown this long at most. */
  readonly stillMaxMs: number;
  /** How long the last picture is shown before the animation begins again. */
  readonly endMs: number;
};

/** What Chromium runs. It is text because the types of this project know no document and no canvas. */
const encoder = `
  (() => {
    const blobOf = (base64, type) => new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type });
    const base64Of = async (blob) => {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      let text = '';
      for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
      return btoa(text);
    };
    const changedArea = (width, height, before, after) => {
      let [left, top, right, bottom] = [width, height, 0, 0];
      for (let at = 0; at < after.length; at += 1) {
        if (before !== null && before[at] === after[at]) continue;
        const [x, y] = [at % width, Math.floor(at / width)];
        [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
        [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
      }
      return { left: left - (left % 2), top: top - (top % 2), right, bottom };
    };
    let last = null;
    window.encodeChange = async (png) => {
      const bitmap = await createImageBitmap(blobOf(png, 'image/png'));
      const { width, height } = bitmap;
      const canvas = new OffscreenCanvas(width, height);
      const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true });
      context.drawImage(bitmap, 0, 0);
      const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
      const { left, top, right, bottom } = changedArea(width, height, last, pixels);
      last = pixels;
      if (right <= left) return null;
      const part = new OffscreenCanvas(right - left, bottom - top);
      part.getContext('2d', { alpha: false }).drawImage(canvas, -left, -top);
      // Quality 1 is lossless.
      const image = await base64Of(await part.convertToBlob({ type: 'image/webp', quality: 1 }));
      return { left, top, width: right - left, height: bottom - top, image };
    };
    window.countFrames = async (webp) => {
      const decoder = new ImageDecoder({ data: await blobOf(webp).arrayBuffer(), type: 'image/webp' });
      await decoder.tracks.ready;
      await decoder.completed;
      const { frameCount } = decoder.tracks.selectedTrack;
      for (let frameIndex = 0; frameIndex < frameCount; frameIndex += 1) (await decoder.decode({ frameIndex })).image.close();
      return frameCount;
    };
  })()`;

type EncodedChange = Omit<Frame, 'durationMs' | 'image'> & { readonly image: string };

/** `origin`: any site on this machine, because Chromium offers its image decoder to such sites only. */
export async function makeFilm(
  browser: Browser,
  origin: string,
  shots: readonly Shot[],
  pace: Pace,
): Promise<Buffer> {
  const page = await browser.newPage({ bypassCSP: true });
  await page.goto(origin);
  await page.evaluate(encoder);
  const changes: { readonly atMs: number; readonly change: EncodedChange }[] = [];
  for (const { atMs, png } of shots) {
    const call = `encodeChange('${png.toString('base64')}')`;
    const change = await page.evaluate<EncodedChange | null>(call);
    if (change !== null) changes.push({ atMs, change });
  }
  const frames = changes.map(({ atMs, change }, index): Frame => {
    const next = changes[index + 1];
    const shownMs = next === undefined ? pace.endMs : (next.atMs - atMs) / pace.speed;
    const durationMs = next === undefined ? shownMs : Math.min(shownMs, pace.stillMaxMs);
    return { ...change, durationMs: Math.round(durationMs), image: Buffer.from(change.image, 'base64') };
  });
  const film = joinFrames(frames[0]!, frames);
  const counted = await page.evaluate<number>(`countFrames('${film.toString('base64')}')`);
  if (counted !== frames.length)
    throw new Error(`The animation has ${frames.length} frames, and Chromium plays ${counted}.`);
  await page.close();
  const seconds = frames.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1_000;
  console.log(`${frames.length} frames, ${seconds.toFixed(1)} s`);
  return film;
}
