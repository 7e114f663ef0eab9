// What a command that runs in this process prints.

import { vi } from 'vitest';

/** Runs it, and keeps all that it prints from the terminal. */
export async function captureOutput<Result>(
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly output: string }> {
  let output = '';
  const keep = (text: unknown) => {
    output += String(text);
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(keep),
    vi.spyOn(process.stderr, 'write').mockImplementation(keep),
    vi.spyOn(console, 'error').mockImplementation(keep),
  ];
  try {
    const result = await run();
    return { result, output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
