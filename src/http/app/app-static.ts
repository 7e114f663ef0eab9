// Serves the dashboard's files under /app/: web/dist, as `npm run build:web` creates it. They are few and
// small, so they are read once and kept in memory, and compressed at the first request. Requests find files
// up by name in memory: no path of a request ever reaches the disk. Any other path gets the dashboard's page,
// which does its own routing.

import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { Deps } from '../deps.ts';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

type Encoding = 'br' | 'gzip';
const compress = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} satisfies Record<Encoding, (bytes: Buffer) => Promise<Buffer>>;

/** Smaller files are sent uncompressed. */
const compressFromBytes = 1_024;

type File = {
  readonly type: string;
  readonly bytes: Buffer;
  readonly compressed: Map<Encoding, Promise<Buffer>>;
};

/** By path in the folder; null if there is no build. */
async function readFiles(folder: string): Promise<ReadonlyMap<string, File> | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, File>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const type = types[extname(path)] ?? 'application/octet-stream';
    files.set(path.slice(folder.length + 1), { type, bytes: await readFile(path), compressed: new Map() });
  }
  return files.has('index.html') ? files : null;
}

function encodingFor({ headers }: FastifyRequest, { type, bytes }: File): Encoding | null {
  if (bytes.length < compressFromBytes || !/^text\/|json|svg/.test(type)) return null;
  const accepted = headers['accept-encoding'] ?? '';
  return (['br', 'gzip'] as const).find((name) => new RegExp(`(^|[\\s,])${name}\\b`).test(accepted)) ?? null;
}

async function sendFile(request: FastifyRequest, reply: FastifyReply, file: File): Promise<FastifyReply> {
  reply.type(file.type).header('vary', 'accept-encoding');
  const encoding = encodingFor(request, file);
  if (encoding === null) return reply.send(file.bytes);
  const known = file.compressed.get(encoding) ?? compress[encoding](file.bytes);
  file.compressed.set(encoding, known);
  return reply.header('content-encoding', encoding).send(await known);
}

/** `gitHosts`: where a form of the dashboard may lead, which registers an App. */
const contentSecurityPolicy = (nonce: string, gitHosts: readonly string[]): string =>
  [
    "default-src 'self'",
    "script-src 'self'",
    // The components create their styles in the browser.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    ["form-action 'self'", ...gitHosts.map((url) => new URL(url).origin)].join(' '),
    "frame-ancestors 'none'",
  ].join('; ');

/** The page, with a nonce for the styles that its components create. */
function sendPage(reply: FastifyReply, { bytes }: File, gitHosts: readonly string[]): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const page = bytes.toString('utf8').replace('<head>', `<head><meta property="csp-nonce" nonce="${nonce}">`);
  return reply
    .header('content-security-policy', contentSecurityPolicy(nonce, gitHosts))
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page);
}

const notBuilt = `The dashboard has not been built. Build it once, in the Signalbox directory:

  npm ci
  npm run build:web

Then reload this page. The API works without it: see /docs.
`;

export async function addStaticRoutes(server: FastifyInstance, { webFolder, config }: Deps): Promise<void> {
  const { gitHosts } = config;
  let files: ReadonlyMap<string, File> | null = null;
  await server.register((scope, _options, done) => {
    scope.addHook('onRequest', (_request, reply, next) => {
      reply
        .header('x-content-type-options', 'nosniff')
        .header('referrer-policy', 'same-origin')
        .header('cross-origin-opener-policy', 'same-origin')
        .header(
          'content-security-policy',
          contentSecurityPolicy(randomBytes(16).toString('base64'), gitHosts),
        );
      next();
    });
    for (const path of ['/', '/app']) scope.get(path, (_request, reply) => reply.redirect('/app/'));
    scope.get('/app/*', async (request, reply) => {
      const path = (request.params as { '*': string })['*'];
      if (/^api(\/|$)/.test(path))
        throw appError('ROUTE_NOT_FOUND', {
          public: 'The dashboard API has no such endpoint. Reload the page.',
        });
      // A build that comes later is found without a restart.
      files ??= await readFiles(webFolder);
      if (files === null) return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt);
      const file = path === 'index.html' ? undefined : files.get(path);
      if (file === undefined && path.startsWith('assets/'))
        throw appError('ROUTE_NOT_FOUND', { public: 'There is no such file. Reload the page.' });
      if (file === undefined) return sendPage(reply, files.get('index.html')!, gitHosts);
      // The names of assets hold their hashes.
      const isHashed = path.startsWith('assets/');
      reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      return sendFile(request, reply, file);
    });
    done();
  });
}
