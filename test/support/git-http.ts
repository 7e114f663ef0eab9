// git's own server for http: `git http-backend` as CGI, with answers that flow as git makes them. What is asked and how many
// bytes are answered can be watched. For tests and benchmarks.

import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type GitHttpOptions = {
  /** The whole value of the header `authorization` that lets a request in; absent: everyone is let in. */
  readonly authorization?: () => string;
  readonly onRequest?: (request: IncomingMessage) => void;
  /** For each piece of an answer, before it is sent. */
  readonly onBytes?: (bytes: number) => void;
};

export function gitHttp(root: string, options: GitHttpOptions = {}): RequestListener {
  const { authorization, onRequest, onBytes } = options;
  return (request, response) => {
    onRequest?.(request);
    if (authorization !== undefined && request.headers.authorization !== authorization()) {
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url!, 'http://x');
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'tester',
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
        CONTENT_TYPE: request.headers['content-type'],
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
        GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // Either side may end before the other has said all.
    backend.stdin.on('error', () => undefined);
    request.pipe(backend.stdin);
    response.on('close', () => backend.kill());
    answerWith(backend.stdout, response, onBytes);
  };
}

/** Passes on what a CGI program prints. */
function answerWith(
  output: NodeJS.ReadableStream,
  response: ServerResponse,
  onBytes: GitHttpOptions['onBytes'],
): void {
  let head: Buffer | null = Buffer.alloc(0);
  output.on('data', (chunk: Buffer) => {
    let body = chunk;
    if (head !== null) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const lines = head.subarray(0, end).toString().split('\r\n');
      const fields = lines.map((line) => line.split(': ') as [string, string]);
      const status = Number(fields.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
      response.writeHead(status, Object.fromEntries(fields.filter(([name]) => name !== 'Status')));
      body = head.subarray(end + 4);
      head = null;
    }
    onBytes?.(body.length);
    if (body.length > 0 && !response.write(body)) {
      output.pause();
      response.once('drain', () => output.resume());
    }
  });
  output.on('end', () => response.end());
}

export type Listening = { readonly url: string; readonly port: number; readonly close: () => void };

export async function listenOnLoopback(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, port, close };
}
