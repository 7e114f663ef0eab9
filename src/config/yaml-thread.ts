// The thread that yaml-apart.ts starts: a text comes in, what it holds goes back.

import { parentPort } from 'node:worker_threads';
import { parseYaml } from './yaml.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.on('message', (text: string) => parentPort?.postMessage(parseYaml(text)));
