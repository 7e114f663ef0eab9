// A thread of ./pool.ts: plays one task after the other.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '#base/assert.ts';
import { playSeed } from './experiment.ts';
import { createExperiment } from './experiments.ts';
import type { Options } from './options.ts';
import type { Task } from './pool.ts';

assert(parentPort !== null, 'this file runs in a thread');
const port = parentPort;
const { scenarios } = createExperiment(workerData as Options);
port.on('message', ({ scenario, seed }: Task) => port.postMessage(playSeed(scenarios[scenario]!, seed)));
