// What `npm run check` asks for before the tests, side by side. What each of them says is printed when it has ended, so
// that nothing is mixed up; all of them are run to their end, so that one run tells everything that is wrong.
import { spawn } from 'node:child_process';

const gates = [
  'format:check',
  'typecheck',
  'lint',
  'knip',
  'lint:openapi',
  'lint:patterns',
  'lint:jobs',
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
