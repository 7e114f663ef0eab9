// Several reports of one job as one upload: `meta.json` first, then the reports, in a tar in zstd.

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { createZstdCompress } from 'node:zlib';
import type { CiEnvironment } from '#config/ci-environment.ts';
import { toCiVariables } from '#config/ci.ts';
import type { ReportFile } from './report-files.ts';

export type BundleContent = {
  readonly organization: string;
  readonly uploadId: string;
  readonly clientVersion: string;
  readonly place: CiEnvironment;
  readonly variant: string;
  readonly command: string;
  /** The runner of the command can run named tests. */
  readonly canSelectTests: boolean;
  /** How often the tests ran. */
  readonly repeats: number;
  readonly tests: number;
  readonly files: readonly ReportFile[];
  /** CODEOWNERS; null: the repository has none. */
  readonly codeowners: { readonly path: string; readonly bytes: Uint8Array } | null;
};

/** The compressed bundle. Reports are read while they are packed, so only compressed bytes are in memory. */
export async function packBundle(cwd: string, content: BundleContent, now: Date): Promise<Buffer> {
  const packed = Readable.from(entries(cwd, content, now)).compose(createZstdCompress());
  return Buffer.concat((await packed.toArray()) as Buffer[]);
}

async function* entries(cwd: string, content: BundleContent, now: Date): AsyncGenerator<Uint8Array> {
  const meta = Buffer.from(JSON.stringify(buildBundleMeta(cwd, content, now)));
  yield* tarEntry('meta.json', meta.length, now, [meta]);
  // CODEOWNERS comes before the reports, so that a reader knows the owners when it reads them.
  const { codeowners } = content;
  if (codeowners !== null) yield* tarEntry('CODEOWNERS', codeowners.bytes.length, now, [codeowners.bytes]);
  for (const [index, { path, bytes }] of content.files.entries())
    yield* tarEntry(`junit/${index}`, bytes, now, createReadStream(resolve(cwd, path)));
  // Two empty blocks end a tar.
  yield new Uint8Array(1024);
}

function buildBundleMeta(cwd: string, content: BundleContent, now: Date) {
  const { place, files, codeowners } = content;
  return {
    version: '1',
    cli_version: content.clientVersion,
    org: content.organization,
    bundle_upload_id: content.uploadId,
    repo: { repo: place.repository, repo_head_sha: place.sha, repo_head_branch: place.branch },
    file_sets: [
      {
        file_set_type: 'junit',
        glob: '',
        files: files.map(({ path }, index) => ({
          original_path: resolve(cwd, path),
          original_path_rel: path,
          path: `junit/${index}`,
          owners: [],
        })),
      },
    ],
    envs: toCiVariables(place),
    upload_time_epoch: Math.floor(now.getTime() / 1000),
    variant: content.variant,
    quarantined_tests: [],
    codeowners: codeowners === null ? undefined : { path: codeowners.path },
    test_command: content.command,
    num_tests: content.tests,
    can_select_tests: content.canSelectTests || undefined,
    repeats: content.repeats === 1 ? undefined : content.repeats,
  };
}

const blockBytes = 512;

/** One file of a tar in the POSIX format. The names are short and plain, so they need no extension of it. */
async function* tarEntry(
  name: string,
  bytes: number,
  writtenAt: Date,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0, 100);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(bytes, 12), 124);
  header.write(octal(Math.floor(writtenAt.getTime() / 1000), 12), 136);
  // The checksum is computed with blanks in its own field.
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  yield header;
  let written = 0;
  for await (const chunk of chunks) {
    written += chunk.length;
    yield chunk;
  }
  if (written !== bytes)
    throw new Error(
      `${name} changed while Signalbox was reading it. Upload the reports after the tests have ended.`,
    );
  if (bytes % blockBytes > 0) yield new Uint8Array(blockBytes - (bytes % blockBytes));
}

const codeownersPlaces = [
  '.github/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
  '.gitlab/CODEOWNERS',
  '.gitea/CODEOWNERS',
];
const codeownersBytesMax = 3 * 1024 * 1024;

/** Reads the first existing file of the paths where Git hosts expect it. */
export async function readCodeowners(cwd: string): Promise<BundleContent['codeowners']> {
  for (const path of codeownersPlaces) {
    const bytes = await readFile(resolve(cwd, path)).catch(() => null);
    if (bytes !== null && bytes.length <= codeownersBytesMax) return { path, bytes };
  }
  return null;
}
