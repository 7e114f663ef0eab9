// The receiver of the benchmark of webhooks, a process of its own: it fails as told, and writes down what it takes before
// it says so, so that being killed makes it forget nothing that it has confirmed.

import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

export type ReceiverJob = {
  readonly port: number;
  readonly secret: string;
  /** Lines are appended: `<webhook-id> <verified 1|0>`. */
  readonly file: string;
  /** Share of requests that fail, of each kind. */
  readonly failing: { readonly error: number; readonly reset: number; readonly silent: number };
};

process.once('message', (job: ReceiverJob) => {
  const file = openSync(job.file, 'a');
  const hook = new Webhook(job.secret);
  const { error, reset, silent } = job.failing;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const chance = Math.random();
      if (chance < silent) return;
      if (chance < silent + reset) return void request.socket.destroy();
      if (chance < silent + reset + error) return void response.writeHead(500).end('not now');
      let isVerified = true;
      try {
        hook.verify(Buffer.concat(chunks), request.headers as Record<string, string>);
      } catch {
        isVerified = false;
      }
      writeSync(file, `${String(request.headers['webhook-id'])} ${isVerified ? 1 : 0}\n`);
      response.end();
    });
    request.on('error', () => undefined);
  });
  server.listen(job.port, '127.0.0.1', () => process.send?.({ isReady: true }));
});
