#!/usr/bin/env node
// The command `signalbox`. What CI runs all day starts without loading the service.

import { readFileSync } from 'node:fs';
import { test } from '#cli/test.ts';
import { upload } from '#cli/upload.ts';

const [command, ...args] = process.argv.slice(2);

if (command === 'test' || command === 'upload') {
  const packageFile = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const context = { cwd: process.cwd(), env: process.env, version };
  // What is written to a pipe must be out before the process ends, so it is left to end by itself.
  process.exitCode = await (command === 'test' ? test(context, args) : upload(context, args));
} else {
  await import('./main.ts');
}
