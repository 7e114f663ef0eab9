// A part of the terminal that is drawn anew in place. What was drawn last stays.

export type Screen = { readonly draw: (lines: readonly string[]) => void; readonly close: () => void };

const [hideCursor, showCursor] = ['\u001b[?25l', '\u001b[?25h'];

/** Only for a terminal. Lines must not be longer than it is wide. */
export function openScreen(stream: NodeJS.WriteStream): Screen {
  let drawn = 0;
  stream.write(hideCursor);
  return {
    draw: (lines) => {
      // What does not fit would scroll away and be drawn twice.
      const fitting = lines.slice(0, Math.max(1, stream.rows - 1));
      const up = drawn === 0 ? '' : `\u001b[${drawn}A`;
      // One write, each line cleared behind its end: nothing flickers.
      stream.write(`${up}\r${fitting.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`);
      drawn = fitting.length;
    },
    close: () => stream.write(showCursor),
  };
}
