// A thread that runs one experiment.

import { parentPort, workerData } from 'node:worker_threads';
import { type RealTask, runReal } from './experiment.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(runReal(workerData as RealTask));
