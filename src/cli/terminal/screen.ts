// A part of the terminal that is redrawn in place. The last drawing stays.

export type Screen = { readonly draw: (lines: readonly string[]) => void; readonly close: () => void };

const [hideCursor, showCursor] = ['\u001b[?25l', '\u001b[?25h'];

/** Only for a terminal. Lines must not be longer than it is wide. */
export function openScreen(stream: NodeJS.WriteStream): Screen {
  let drawn = 0;
  stream.write(hideCursor);
  return {
    draw: (lines) => {
      // Lines that do not fit would scroll off the screen and be drawn twice.
      const fitting = lines.slice(0, Math.max(1, stream.rows - 1));
      const up = drawn === 0 ? '' : `\u001b[${drawn}A`;
      // One write, and each line is cleared after its end, so nothing flickers.
      stream.write(`${up}\r${fitting.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`);
      drawn = fitting.length;
    },
    close: () => stream.write(showCursor),
  };
}
