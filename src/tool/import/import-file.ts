// Reads the configuration file of another queue: bounded, parsed, and passed to the importer for it.

import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { importBors } from './bors.ts';
import { type Imported, isRecord } from './finding.ts';
import { importGitHub } from './github.ts';
import { importMergify } from './mergify.ts';
import { CliError } from '#cli/exit-codes.ts';
import type { OtherQueue } from './import.ts';

export type ReadQueue = Imported & { readonly from: OtherQueue; readonly file: string };

/** Far more than any such file needs. */
const bytesMax = 256 * 1024;
/** The size to which YAML aliases may expand it. */
const charactersMax = 4 * 1024 * 1024;

export async function readOtherQueue(
  cwd: string,
  file: string,
  wished: OtherQueue | null,
): Promise<ReadQueue> {
  const from = wished ?? guessQueueKind(file);
  if (from === null)
    throw new CliError(
      'The kind of the file is not known. Use --from bors, --from mergify or --from github.',
      'usage',
    );
  const content = parseImportContent(from, await readImportText(cwd, file));
  if (from === 'github') {
    if (!isRecord(content) && !Array.isArray(content))
      throw new CliError('The file contains no ruleset. Export the ruleset as JSON from the API of GitHub.');
    return { from, file, ...importGitHub(content) };
  }
  if (!isRecord(content))
    throw new CliError(`The file contains no keys. Check that it is a configuration of ${from}.`);
  return { from, file, ...(from === 'bors' ? importBors(content) : importMergify(content)) };
}

function guessQueueKind(file: string): OtherQueue | null {
  const name = basename(file).toLowerCase();
  if (name.endsWith('.toml')) return 'bors';
  if (/\.ya?ml$/.test(name)) return 'mergify';
  return name.endsWith('.json') ? 'github' : null;
}

async function readImportText(cwd: string, file: string): Promise<string> {
  const stream = file === '-' ? process.stdin : createReadStream(resolve(cwd, file), { end: bytesMax });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) break;
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw new CliError(`${file} could not be read: ${(error as Error).message}`);
  }
  if (bytes > bytesMax)
    throw new CliError(
      `${file} is larger than ${bytesMax / 1024} KiB, so it is not a configuration of a merge queue.`,
    );
  return Buffer.concat(chunks).toString();
}

const parsers: { readonly [From in OtherQueue]: (text: string) => unknown } = {
  bors: (text) => parseToml(text),
  // No more aliases than a person writes, so that a file cannot expand without limit.
  mergify: (text) => parseYaml(text, { maxAliasCount: 100, logLevel: 'error' }),
  github: (text) => JSON.parse(text),
};

/** As a plain tree: content that refers to itself, or is nested too deep, is not a configuration. */
function parseImportContent(from: OtherQueue, text: string): unknown {
  try {
    const flat = JSON.stringify(parsers[from](text)) ?? 'null';
    if (flat.length > charactersMax) throw new Error('its aliases expand it too much');
    return JSON.parse(flat);
  } catch (error) {
    throw new CliError(`The file is not valid: ${(error as Error).message}`);
  }
}
