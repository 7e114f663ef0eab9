// YAML of pull requests, read beside everything else. The parser takes microseconds for each character, and the square of
// their number for texts that are made for it: what is longer than a few lines is read in a thread of its own, which is
// ended when it takes too long. A text like that counts as no YAML.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { parseYaml, type Yaml } from './yaml.ts';

/** A text of this length takes some milliseconds at worst. */
const lengthHereMax = 2_048;
const deadlineMs = 5_000;

/** The same file as this one has: TypeScript in a checkout, JavaScript in the package. */
const threadFile = new URL(`./yaml-thread${extname(import.meta.filename)}`, import.meta.url);

/** What `parseYaml` answers. At most so many characters are looked at; more are no YAML. */
export async function parseYamlApart(text: string, lengthMax: number): Promise<Yaml> {
  if (text.length <= lengthHereMax) return parseYaml(text);
  if (text.length > lengthMax) return { kind: 'no-yaml' };
  const thread = new Worker(threadFile, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 64 } });
  try {
    return await new Promise<Yaml>((resolve, reject) => {
      setTimeout(resolve, deadlineMs, { kind: 'no-yaml' }).unref();
      thread.once('message', resolve);
      // Out of the memory that it has, which only a text made for it needs.
      thread.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ kind: 'no-yaml' }) : reject(error),
      );
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      thread.postMessage(text);
    });
  } finally {
    await thread.terminate();
  }
}
