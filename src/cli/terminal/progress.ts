// Shows a waiting person the current step: one line that changes on a terminal, nothing in a log.

export type TerminalProgress = { readonly step: (text: string) => void; readonly end: () => void };

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function createProgress(stream: NodeJS.WriteStream): TerminalProgress {
  if (!stream.isTTY) return { step: () => undefined, end: () => undefined };
  let text = '';
  let frame = 0;
  const draw = () => {
    frame += 1;
    stream.write(`\r\u001b[2K${frames[frame % frames.length]} Signalbox: ${text}`);
  };
  let timer: NodeJS.Timeout | null = null;
  return {
    step: (next) => {
      text = next;
      timer ??= setInterval(draw, 80);
      draw();
    },
    end: () => {
      if (timer === null) return;
      clearInterval(timer);
      timer = null;
      stream.write('\r\u001b[2K');
    },
  };
}
