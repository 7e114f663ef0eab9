// Parses the YAML of pull requests in isolation. The parser takes microseconds for each character, and
// quadratic time for malicious texts: a text that is longer than a few lines is parsed in a process of its own, which the
// system ends when it has used too much processor time; how long it waits for a busy machine does not count. Such a text counts as invalid YAML. A thread would not do: one that runs out of memory
// may end the whole process with it (V8 gives up where one allocation exceeds what is left).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseYaml, type Yaml } from './yaml.ts';

/** A text of this length takes some milliseconds at worst. */
const lengthHereMax = 2_048;
const processorSeconds = 5;
/** The process yields to all others, so it may wait for long. */
const deadlineMs = 120_000;
const memoryMaxMiB = 64;

/** With the extension of this file: TypeScript in a checkout, JavaScript in the package. */
const program = new URL(`./yaml-process${extname(import.meta.filename)}`, import.meta.url);

/** The result of `parseYaml`. A text longer than `lengthMax` characters counts as invalid YAML. */
export async function parseYamlApart(
  text: string,
  lengthMax: number,
  memoryMiB = memoryMaxMiB,
): Promise<Yaml> {
  if (text.length <= lengthHereMax) return parseYaml(text);
  if (text.length > lengthMax) return { kind: 'no-yaml' };
  const node = [process.execPath, `--max-old-space-size=${memoryMiB}`, fileURLToPath(program)];
  const child = spawn('/bin/sh', ['-c', `ulimit -t ${processorSeconds} && exec "$0" "$@"`, ...node], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    timeout: deadlineMs,
    killSignal: 'SIGTERM',
  });
  let yaml: Yaml | undefined;
  child.once('message', (message: Yaml) => (yaml = message));
  // A failure to send shows in how the process ends.
  child.send(text, () => undefined);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (yaml !== undefined) return yaml;
  // It used too much processor time, or ran out of memory: only a malicious text does either.
  if (signal === 'SIGKILL' || signal === 'SIGABRT') return { kind: 'no-yaml' };
  throw new Error(`The process that parses YAML ended with ${code ?? signal} and no result.`);
}
