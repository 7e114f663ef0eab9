// A remote for tests: a bare repository in a temporary folder, with commits made to order.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

type File = string | Buffer | { readonly mode: '100755' | '120000'; readonly text: string } | null;

export type CommitSpec = {
  readonly parents?: readonly string[];
  /** By path; null deletes. */
  readonly files?: Readonly<Record<string, File>>;
  /** `Name <email>`. */
  readonly author?: string;
  readonly message?: string;
  /** Seconds. */
  readonly at?: number;
};

export type TestRemote = {
  readonly path: string;
  readonly git: (...args: readonly string[]) => string;
  readonly commit: (spec: CommitSpec) => string;
  readonly set: (ref: string, sha: string) => void;
  /** A script of sh that the remote runs. */
  readonly hook: (name: string, script: string) => void;
};

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-git-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function makeRemote(objectFormat = 'sha1'): TestRemote {
  const path = join(temporaryFolder(), 'remote.git');
  const env = {
    PATH: process.env['PATH'],
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    LC_ALL: 'C',
  };
  const run = (args: readonly string[], input?: Buffer) =>
    execFileSync('git', args, { env: { ...env, GIT_DIR: path }, input, stdio: ['pipe', 'pipe', 'pipe'] })
      .toString()
      .trim();
  run(['init', '--bare', '--quiet', `--object-format=${objectFormat}`, path]);
  return {
    path,
    git: (...args) => run(args),
    commit: (spec) => run(['fast-import', '--quiet', '--force', '--cat-blob-fd=1'], importOf(spec)),
    set: (ref, sha) => void run(['update-ref', ref, sha]),
    hook: (name, script) => {
      mkdirSync(join(path, 'hooks'), { recursive: true });
      const file = join(path, 'hooks', name);
      writeFileSync(file, `#!/bin/sh\n${script}\n`);
      chmodSync(file, 0o755);
    },
  };
}

function importOf({ parents = [], files = {}, author, message = 'Change', at = 1_700_000_000 }: CommitSpec) {
  const data = (bytes: Buffer) => [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')];
  const [first, ...others] = parents;
  return Buffer.concat([
    Buffer.from(
      `commit refs/made/commit\nmark :1\nauthor ${author ?? 'Ada <ada@example.com>'} ${at} +0100\n` +
        `committer Ada <ada@example.com> ${at} +0100\n`,
    ),
    ...data(Buffer.from(message)),
    Buffer.from(first === undefined ? '' : `from ${first}\n`),
    ...others.map((parent) => Buffer.from(`merge ${parent}\n`)),
    ...Object.entries(files).flatMap(([path, file]) => {
      if (file === null) return [Buffer.from(`D ${path}\n`)];
      if (typeof file === 'string' || Buffer.isBuffer(file))
        return [Buffer.from(`M 100644 inline ${path}\n`), ...data(Buffer.from(file))];
      return [Buffer.from(`M ${file.mode} inline ${path}\n`), ...data(Buffer.from(file.text))];
    }),
    Buffer.from('\nget-mark :1\n'),
  ]);
}
