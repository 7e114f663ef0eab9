// `npm run docs:pictures`: makes the pictures of the documentation in docs/image again. It needs Chromium, and for the
// comments the Gitea of the tests (`npm run test:programs`). The results of experiments (trains.svg, submitqueue.svg) are
// made by `npm run sim`.
//   --only PART   drawings, film, demo, dashboard or comment; can be repeated

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../script/browser.ts';
import { type Cleanup, createCleanup, root } from '../bench/fixture.ts';
import { drawConcepts } from '../sim/pictures.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { photographComments } from './comment.ts';
import { photographDashboard } from './dashboard.ts';
import { filmDemo, photographDemo } from './demo.ts';
import type { Picture } from './picture.ts';

const parts: Readonly<Record<string, (cleanup: Cleanup, browser: Browser) => Promise<readonly Picture[]>>> = {
  drawings: () => Promise.resolve(drawConcepts()),
  film: filmDemo,
  demo: photographDemo,
  dashboard: photographDashboard,
  comment: photographComments,
};

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = values.only ?? Object.keys(parts);
for (const part of chosen)
  if (!(part in parts)) {
    console.error(`There is no part ${part}. Use ${Object.keys(parts).join(', ')}.`);
    process.exit(1);
  }

/** Readers load these with the page. */
const largestKb = { svg: 50, png: 200, webp: 1_500 } as const;
const folder = join(root, 'docs', 'image');

function save({ name, content }: Picture): Figure {
  writeFileSync(join(folder, name), content);
  const value = Buffer.byteLength(content) / 1_024;
  const most = largestKb[name.split('.').at(-1) as keyof typeof largestKb];
  return { name: `docs/image/${name}, KB`, value, goal: `<= ${most}`, isMet: value <= most };
}

const cleanup = createCleanup();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanup.run().then(() => process.exit(1)));
try {
  mkdirSync(folder, { recursive: true });
  const browser = await launchChromium();
  cleanup.add(() => browser.close());
  const figures: Figure[] = [];
  for (const part of chosen)
    for (const picture of await parts[part]!(cleanup, browser)) {
      figures.push(save(picture));
      console.log(lineOf(figures.at(-1)!));
    }
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}
