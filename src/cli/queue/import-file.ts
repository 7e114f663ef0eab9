// The configuration of another queue, from its file: bounded, parsed, and handed to the importer that knows it.

import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { importBors } from '#core/import/bors.ts';
import { type Imported, isRecord } from '#core/import/finding.ts';
import { importGitHub } from '#core/import/github.ts';
import { importMergify } from '#core/import/mergify.ts';
import { CliError } from '../exit-codes.ts';
import type { OtherQueue } from './import.ts';

export type ReadQueue = Imported & { readonly from: OtherQueue; readonly file: string };

/** Far more than any such file has. */
const bytesMax = 256 * 1024;
/** What aliases of YAML may make of it. */
const charactersMax = 4 * 1024 * 1024;

export async function readOtherQueue(
  cwd: string,
  file: string,
  wished: OtherQueue | null,
): Promise<ReadQueue> {
  const from = wished ?? kindOf(file);
  if (from === null)
    throw new CliError(
      'Whose configuration is it? Give --from bors, --from mergify or --from github.',
      'usage',
    );
  const content = contentOf(from, await textOf(cwd, file));
  if (from === 'github') {
    if (!isRecord(content) && !Array.isArray(content))
      throw new CliError('The file holds no ruleset: give what the API of GitHub answers, as JSON.');
    return { from, file, ...importGitHub(content) };
  }
  if (!isRecord(content)) throw new CliError(`The file holds no keys: is it the configuration of ${from}?`);
  return { from, file, ...(from === 'bors' ? importBors(content) : importMergify(content)) };
}

function kindOf(file: string): OtherQueue | null {
  const name = basename(file).toLowerCase();
  if (name.endsWith('.toml')) return 'bors';
  if (/\.ya?ml$/.test(name)) return 'mergify';
  return name.endsWith('.json') ? 'github' : null;
}

async function textOf(cwd: string, file: string): Promise<string> {
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
    throw new CliError(`${file} has more than ${bytesMax / 1024} KiB, which is no configuration of a queue.`);
  return Buffer.concat(chunks).toString();
}

const parsers: { readonly [From in OtherQueue]: (text: string) => unknown } = {
  bors: (text) => parseToml(text),
  // No more aliases than a person writes: a file cannot make itself large.
  mergify: (text) => parseYaml(text, { maxAliasCount: 100, logLevel: 'error' }),
  github: (text) => JSON.parse(text),
};

/** As a plain tree: what refers to itself, or is nested too deep, is no configuration. */
function contentOf(from: OtherQueue, text: string): unknown {
  try {
    const flat = JSON.stringify(parsers[from](text)) ?? 'null';
    if (flat.length > charactersMax) throw new Error('its aliases make it too large');
    return JSON.parse(flat);
  } catch (error) {
    throw new CliError(`The file is not what it should be: ${(error as Error).message}`);
  }
}
