// A process that fetches a repository for the first time, as a worker does: what fails because of the link is tried again.
// Its arguments are the path of the mirror, the address, and the pace as JSON. It prints the commit that it found.

import { setTimeout as sleep } from 'node:timers/promises';
import { GitError } from '#git/error.ts';
import type { FirstFetchPace } from '#git/mirror/first-fetch.ts';
import { openMirror } from '#git/mirror/mirror.ts';

const [path = '', url = '', pace = '{}'] = process.argv.slice(2);
const options = {
  firstFetchPace: JSON.parse(pace) as FirstFetchPace,
  onFirstFetch: {
    progress: ({ percent, bytes }: { percent: number | null; bytes: number }) =>
      console.error(`${percent ?? '?'} % ${bytes}`),
    whole: () => undefined,
  },
};
const mirror = await openMirror(path, { url }, options);
for (;;)
  try {
    const { tip } = await mirror.fetch({ branch: 'main', pulls: [] });
    console.log(tip);
    break;
  } catch (error) {
    if (!(error instanceof GitError) || error.kind !== 'unreachable') throw error;
    await sleep(1_000);
  }
await mirror.close();
