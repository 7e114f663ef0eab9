// A server that answers as a test says, for what a real Gitea cannot be made to answer.

import { createServer, type IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Connections, Credentials, ConnectionWithCredentials } from '#host/connection.ts';
import type { HostRepository } from '#host/host.ts';
import { closed, listen } from './world.ts';

export const stubHost = 'gitea.test';
export const organizationId = randomUUID() as OrganizationId;

export const stubRepository: HostRepository = {
  id: randomUUID() as RepositoryId,
  organizationId,
  host: stubHost,
  owner: 'ada',
  name: 'widgets',
};

export type Asked = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
};

/** Status, body and headers; a body that is no text is sent as JSON. */
export type StubAnswer = readonly [
  status: number,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
];

export type Stub = {
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly close: () => Promise<void>;
};

/** Null: no answer ever comes. */
export async function startStub(answer: (asked: Asked) => StubAnswer | null): Promise<Stub> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const respond = (text: string) => {
      const { method = '', url: path = '', headers } = request;
      const now = { method, path, authorization: headers.authorization, body: text && JSON.parse(text) };
      asked.push(now);
      const [status, body = '', more = {}] = answer(now) ?? [];
      if (status === undefined) return;
      response.writeHead(status, more);
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    void bodyOf(request).then(respond);
  });
  return { url: await listen(server), asked, close: () => closed(server) };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Of one organization with one host. */
export function connectionsOf(
  url: string,
  credentials: Credentials,
): Connections & { readonly current: () => ConnectionWithCredentials } {
  let connection: ConnectionWithCredentials = {
    id: randomUUID(),
    organizationId,
    host: stubHost,
    url,
    credentials,
  };
  return {
    current: () => connection,
    find: (organization, host) =>
      Promise.resolve(organization === organizationId && host === stubHost ? connection : null),
    save: (_connection, renewed) => {
      connection = { ...connection, credentials: renewed };
      return Promise.resolve();
    },
  };
}
