#!/usr/bin/env node
// The command `signalbox`. What CI runs all day starts without loading the service.

import { test } from '#cli/test.ts';
import { upload } from '#cli/upload.ts';
import packageFile from '../package.json' with { type: 'json' };

const [command, ...args] = process.argv.slice(2);

if (command === 'test' || command === 'upload') {
  const context = { cwd: process.cwd(), env: process.env, version: packageFile.version };
  // What is written to a pipe must be out before the process ends, so it is left to end by itself.
  process.exitCode = await (command === 'test' ? test(context, args) : upload(context, args));
} else {
  await import('./main.ts');
}
