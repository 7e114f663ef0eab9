// A session with a long-lived process: a question is written, its answer is read, then the next. Starting a
// process costs more than most questions do.
//
// The process is supervised. If it dies, the question it was working on fails with TalkEnded and the next one
// starts a new process. The caller decides whether to ask the failed question again, because the question
// itself may have killed the process. A process without questions ends after a minute.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** The length of a whole answer at the start of the bytes read, or null if it is not complete yet. */
export type LengthOf = (bytes: Buffer) => number | null;

export type Talk = {
  readonly ask: (question: string, lengthOf: LengthOf) => Promise<Buffer>;
  /** The process that is running now, if any. */
  readonly pid: () => number | undefined;
  readonly close: () => Promise<void>;
};

export class TalkEnded extends Error {
  readonly why: 'not started' | 'died' | 'timed out' | 'closed';

  constructor(why: TalkEnded['why'], output: string) {
    super(`The process ${why}. ${output}`.trim());
    this.name = 'TalkEnded';
    this.why = why;
  }
}

type PendingProcessRequest = {
  readonly lengthOf: LengthOf;
  readonly resolve: (answer: Buffer) => void;
  readonly reject: (error: TalkEnded) => void;
};

type Partner = { readonly child: ChildProcessWithoutNullStreams; waiting: PendingProcessRequest | null };

export type TalkOptions = {
  /** Longest time that one answer may take. */
  readonly answerTimeoutMs: number;
  /** How long a process without questions is kept. Default 60,000. */
  readonly idleMs?: number;
};

export function openTalk(start: () => ChildProcessWithoutNullStreams, options: TalkOptions): Talk {
  const { answerTimeoutMs, idleMs = 60_000 } = options;
  let partner: Partner | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  let idle: NodeJS.Timeout | undefined;

  const hangUp = () => {
    partner?.child.stdin.end();
    partner = null;
  };

  const exchange = async (question: string, lengthOf: LengthOf): Promise<Buffer> => {
    if (isClosed) throw new TalkEnded('closed', '');
    clearTimeout(idle);
    const current = (partner ??= meet(start(), (gone) => {
      if (partner === gone) partner = null;
    }));
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        current.waiting = { lengthOf, resolve, reject };
        timer = setTimeout(() => {
          if (partner === current) partner = null;
          current.child.kill('SIGKILL');
          reject(new TalkEnded('timed out', ''));
        }, answerTimeoutMs);
        current.child.stdin.write(question);
      });
    } finally {
      current.waiting = null;
      clearTimeout(timer);
      idle = setTimeout(hangUp, idleMs).unref();
    }
  };

  return {
    ask: (question, lengthOf) => {
      const turn = last.then(() => exchange(question, lengthOf));
      last = turn.catch(() => {});
      return turn;
    },
    pid: () => partner?.child.pid,
    close: async () => {
      isClosed = true;
      await last;
      clearTimeout(idle);
      const child = partner?.child;
      hangUp();
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await new Promise((resolve) => child.once('close', resolve));
      clearTimeout(late);
    },
  };
}

/** Connects a new process: its output belongs to the question that waits. */
function meet(child: ChildProcessWithoutNullStreams, onGone: (partner: Partner) => void): Partner {
  const partner: Partner = { child, waiting: null };
  let read: Buffer = Buffer.alloc(0);
  let stderr = '';
  const gone = (why: TalkEnded['why']) => {
    onGone(partner);
    partner.waiting?.reject(new TalkEnded(why, stderr.trim()));
  };
  child.stdout.on('data', (chunk: Buffer) => {
    read = read.length === 0 ? chunk : Buffer.concat([read, chunk]);
    const length = partner.waiting?.lengthOf(read) ?? null;
    if (length === null) return;
    const answer = read.subarray(0, length);
    read = read.subarray(length);
    partner.waiting?.resolve(answer);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-4_096);
  });
  // A failed write to a dead process is reported by its end.
  child.stdin.on('error', () => {});
  child.on('error', (error) => {
    stderr = error.message;
    gone('not started');
  });
  child.on('close', () => gone('died'));
  return partner;
}
