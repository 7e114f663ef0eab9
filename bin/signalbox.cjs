#!/usr/bin/env node
// The command `signalbox`, for whatever Node.js npm runs it with. Signalbox needs Node.js 24: an older one starts the one
// that npm installed beside it, if there is one for this machine.
'use strict';

const { spawn } = require('child_process');
const { existsSync } = require('fs');
const { constants } = require('os');
const { dirname, join } = require('path');
const { pathToFileURL } = require('url');

const needed = 24;
// A checkout runs its sources, an installed package what was built of them.
const source = join(__dirname, '..', 'src', 'signalbox.ts');
const entry = existsSync(source) ? source : join(__dirname, '..', 'dist', 'signalbox.js');

function findNode() {
  try {
    const name = `node-${process.platform}-${process.arch}`;
    const file = join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'node');
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

function runWith(node) {
  const child = spawn(node, [entry, ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches both of us; what is sent to this process alone is handed on.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code === null ? 128 + constants.signals[signal] : code));
}

if (Number(process.versions.node.split('.')[0]) >= needed) import(pathToFileURL(entry).href);
else {
  const node = findNode();
  if (node === null) {
    console.error(
      `Signalbox needs Node.js ${needed} or newer, and this is ${process.versions.node}. Install it from https://nodejs.org, or install Signalbox with its optional dependencies: npm install --include=optional`,
    );
    process.exitCode = 2;
  } else runWith(node);
}
