// Calls of the API, whatever they answer.

export type Caller = {
  /** Aborted when nothing more is to be sent. */
  readonly signal: AbortSignal;
  /** The status. */
  readonly call: (path: string, body: object) => Promise<number>;
  /** Throws unless it is answered with success. */
  readonly expect: (path: string, body: object) => Promise<void>;
  readonly ask: <Answer>(path: string, body: object) => Promise<Answer>;
  /** Sends bytes as they are; the answer, whatever it is. */
  readonly post: <Answer = unknown>(path: string, bytes: Buffer, type: string) => Promise<Partial<Answer>>;
  /** The same organization with a token that may read. */
  readonly asReader: Caller;
};

/** Who reads for a token that may only upload. */
const readers = new Map<string, string>();

export const readFor = (token: string, reader: string): void => void readers.set(token, reader);

const never = new AbortController().signal;

export function createCaller(url: string, token: string, signal: AbortSignal = never): Caller {
  const send = (path: string, body: Uint8Array<ArrayBuffer> | string, type: string) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'x-api-token': token, 'content-type': type },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
    });
  const ask = async (path: string, body: object) => {
    const answer = await send(path, JSON.stringify(body), 'application/json');
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as never;
  };
  return {
    signal,
    call: async (path, body) => {
      const answer = await send(path, JSON.stringify(body), 'application/json');
      await answer.arrayBuffer();
      return answer.status;
    },
    expect: async (path, body) => void (await ask(path, body)),
    ask,
    post: async (path, bytes, type) => {
      // A body that is refused before its end may be cut off while it is sent.
      const text = await send(path, new Uint8Array(bytes), type).then(
        (answer) => answer.text(),
        () => '',
      );
      return (text.startsWith('{') ? JSON.parse(text) : {}) as never;
    },
    get asReader() {
      return createCaller(url, readers.get(token) ?? token, signal);
    },
  };
}
