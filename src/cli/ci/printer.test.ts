import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createPrinter } from './printer.ts';

function streamWith(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream & PassThrough;
  return { stream, written: () => String(stream.read() ?? '') };
}

describe('progress', () => {
  it('is one line that changes on a terminal, and is gone before the summary', () => {
    const { stream, written } = streamWith(true);
    const printer = createPrinter(stream);
    printer.step('sending 1 report');
    printer.step('waiting');
    printer.print([{ tone: 'plain', text: 'Signalbox: 1 test.' }]);
    const text = written();
    expect(text).toContain('sending 1 report');
    expect(text).not.toMatch(/\n[^]*waiting/);
    expect(text.endsWith('\r\u001b[2KSignalbox: 1 test.\n')).toBe(true);
  });

  it('is nothing in a log, where lines have no colours', () => {
    const { stream, written } = streamWith(false);
    const printer = createPrinter(stream);
    printer.step('sending 1 report');
    printer.print([{ tone: 'bad', text: 'Signalbox: 1 test.' }]);
    printer.clear();
    expect(written()).toBe('Signalbox: 1 test.\n');
  });
});
