#!/usr/bin/env node
// The command `signalbox`. The commands that CI runs start without loading the service.

import { runProgram } from '#program.ts';
import packageFile from '../package.json' with { type: 'json' };

const code = await runProgram({
  cwd: process.cwd(),
  env: process.env,
  version: packageFile.version,
  args: process.argv.slice(2),
  service: async (args) => (await import('./main.ts')).main(args),
  demo: async (options) => (await import('./tool/demo/demo.ts')).demo(options, import.meta.filename),
});
// Output to a pipe must be written before the process exits, so the process is left to exit on its own.
if (code !== undefined) process.exitCode = code;
