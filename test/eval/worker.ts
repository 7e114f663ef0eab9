// A thread that runs one experiment after another, as it is told.

import { parentPort } from 'node:worker_threads';
import { type Generator, runExperiment } from './experiment.ts';

parentPort?.on('message', ({ generator, seed }: { readonly generator: Generator; readonly seed: number }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(runExperiment(generator, seed));
});
