// A copy of the tree with the toys in it.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Toy } from './toys.ts';

const copied = [
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'vitest.mutation.config.ts',
  '.oxlintrc.json',
  'src',
  'test',
  'script',
  'docs',
  'web',
];

export const toyFile = (name: string): string => join(import.meta.dirname, 'toy', name);

export function copyTree(): string {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-walk-'));
  for (const name of copied)
    cpSync(name, join(root, name), { recursive: true, filter: (path) => path !== join('web', 'dist') });
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  return root;
}

export function addFile(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text, { flag: 'wx' });
}

export function addToy(root: string, { adds, changes }: Toy): void {
  for (const [path, name] of Object.entries(adds)) addFile(root, path, readFileSync(toyFile(name), 'utf8'));
  for (const { file, find, replace } of changes) {
    const text = readFileSync(join(root, file), 'utf8');
    if (text.split(find).length !== 2) throw new Error(`${file} does not hold this once: ${find}`);
    writeFileSync(
      join(root, file),
      text.replace(find, () => replace),
    );
  }
}

/** What a program of the copy prints, and how it ends. */
export async function runIn(
  root: string,
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const path = `${join(root, 'node_modules', '.bin')}:${process.env['PATH']}`;
  const child = spawn(command, args, { cwd: root, env: { ...process.env, PATH: path } });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output: Buffer.concat(chunks).toString() };
}
