#!/usr/bin/env node
// The command `signalbox`. What CI runs all day starts without loading the service.

import { runProgram } from '#cli/program.ts';
import packageFile from '../package.json' with { type: 'json' };

const code = await runProgram({
  cwd: process.cwd(),
  env: process.env,
  version: packageFile.version,
  args: process.argv.slice(2),
  service: async (args) => (await import('./main.ts')).main(args),
  demo: async (wishes) => (await import('./demo/demo.ts')).demo(wishes, import.meta.filename),
});
// What is written to a pipe must be out before the process ends, so it is left to end by itself.
if (code !== undefined) process.exitCode = code;
