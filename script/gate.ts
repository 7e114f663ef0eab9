// The checks of `npm run check` before the tests, in parallel. The output of each is printed when it has ended, so that
// nothing is mixed up; all of them run to their end, so that one run shows everything that is wrong.
import { spawn } from 'node:child_process';

const gates = [
  'format:check',
  'typecheck',
  'lint',
  'knip',
  'lint:openapi',
  'lint:patterns',
  'lint:jobs',
  'lint:prose',
  'counts',
] as const;

/** Whether it is passed. */
async function pass(gate: string): Promise<boolean> {
  const beganAt = performance.now();
  const child = spawn('npm', ['run', '--silent', gate], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  const code = await new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  const isPassed = code === 0;
  const seconds = ((performance.now() - beganAt) / 1_000).toFixed(1);
  console.log(`npm run ${gate}: ${isPassed ? 'passed' : 'failed'} after ${seconds} s`);
  process.stdout.write(Buffer.concat(said));
  return isPassed;
}

const passed = await Promise.all(gates.map(pass));
process.exitCode = passed.every(Boolean) ? 0 : 1;
