#!/usr/bin/env node
// The command `signalbox`, for whatever Node.js npm runs it with. Signalbox needs Node.js 24: an older one starts the one
// that npm installed beside it, if there is one for this machine.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const needed = 24;
// A checkout runs its sources, an installed package what was built of them.
const entries = ['../src/signalbox.ts', '../dist/signalbox.js'].map((path) => new URL(path, import.meta.url));
const entry = entries.find((url) => existsSync(url));

function findNode() {
  try {
    const file = createRequire(import.meta.url).resolve(
      `node-${process.platform}-${process.arch}/package.json`,
    );
    const node = join(dirname(file), 'bin', 'node');
    return existsSync(node) ? node : null;
  } catch {
    return null;
  }
}

/** @param {string} node @param {URL} file */
function runWith(node, file) {
  const child = spawn(node, [fileURLToPath(file), ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches both of us; what is sent to this process alone is handed on.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

if (entry === undefined) {
  console.error('This package of Signalbox was not built. Make it anew: npm run build');
  process.exitCode = 2;
} else if (Number(process.versions.node.split('.')[0]) >= needed) await import(entry.href);
else {
  const node = findNode();
  if (node === null) {
    console.error(
      `Signalbox needs Node.js ${needed} or newer, and this is ${process.versions.node}. Install it from https://nodejs.org, or install Signalbox with its optional dependencies: npm install --include=optional`,
    );
    process.exitCode = 2;
  } else runWith(node, entry);
}
