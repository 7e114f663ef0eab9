// What is typed wrong gets a sentence that helps, and the exit code of wrong usage.
import { expect, it, vi } from 'vitest';
import { runProgram } from '#program.ts';

async function type(...args: readonly string[]) {
  let output = '';
  const keep = (text: unknown) => {
    output += `${String(text)}\n`;
    return true;
  };
  const spies = [
    vi.spyOn(process.stderr, 'write').mockImplementation(keep),
    vi.spyOn(console, 'error').mockImplementation(keep),
  ];
  const nothing = () => Promise.resolve(0);
  const env = { SIGNALBOX_URL: 'http://127.0.0.1:9', SIGNALBOX_API_TOKEN: 'fake' };
  try {
    const code = await runProgram({ cwd: '/', env, version: '0', args, service: nothing, demo: nothing });
    return { code, output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

it.each([
  [['statsu'], 'Did you mean status?'],
  [['queue', 'shwo'], 'Did you mean show?'],
  [['status', '--wacth'], 'Did you mean --watch?'],
  [['completion', 'bsh'], 'Did you mean bash?'],
  [['tests', 'unhealthy', '--status', 'flakey'], 'Did you mean flaky?'],
  [['admin', 'connect', 'acme', '--kind', 'gitae'], 'Did you mean gitea?'],
  [
    ['queue', 'set', '--repo', 'a/b/c', 'concurency=3'],
    'There is no setting concurency. Did you mean concurrency?',
  ],
  [['queue', 'set', '--repo', 'a/b/c', 'state=PAUSED'], 'Use signalbox queue pause'],
  [['queue', 'set', '--repo', 'a/b/c', 'concurrency=5000'], 'concurrency: Too big'],
  [['queue', 'set', '--repo', 'a/b/c', 'batch'], 'batch has no value. Use for example batch=false.'],
  [['queue', 'create', '--repo', 'a/b/c'], 'Use --branch'],
  [['submit', 'seven'], 'Use its number or its URL'],
  [['submit', '7', '--repo', 'widgets'], 'host/owner/name'],
  [['wait', '7', '--timeout', 'long'], '90s, 30m or 2h'],
  [['status', '7', '--url', 'signalbox'], 'not a valid URL'],
  [['test'], "missing required argument 'command'"],
  [['targets', 'upload', '7', '--all', '--from', 'x'], 'cannot be used with'],
])('%j', async (args, hint) => {
  const { code, output } = await type(...args);
  expect(output).toContain(hint);
  expect(code).toBe(2);
});

it('says which service did not answer with a code of its own', async () => {
  const { code, output } = await type('queue', 'list', '--url', 'http://127.0.0.1:1');
  expect(output).toContain('is unreachable');
  expect(code).toBe(7);
});
