import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../support/harness.ts';

const page = '<!doctype html><html><head><title>x</title></head><body></body></html>';
const script = `export const text = '${'a'.repeat(5_000)}';`;

let folder: string;
let world: World & { close: () => Promise<void> };
const get = (url: string, headers: Record<string, string> = {}) =>
  world.server.inject({ method: 'GET', url, headers });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-web-'));
  const config = { gitHosts: ['https://github.com', 'https://git.example/path'] };
  world = await openWorld({ webFolder: join(folder, 'dist'), config });
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

it('says how to build the dashboard where it is not built, and finds it once it is', async () => {
  const before = await get('/app/');
  expect([before.statusCode, before.headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8']);
  expect(before.body).toContain('npm run build:web');
  await mkdir(join(folder, 'dist/assets'), { recursive: true });
  await writeFile(join(folder, 'dist/assets/index-abc.js'), script);
  await writeFile(join(folder, 'dist/icon.svg'), '<svg/>');
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'dist/index.html'), page);
  expect((await get('/app/')).statusCode).toBe(200);
});

describe('the dashboard', () => {
  it.each([
    '/app/',
    '/app/index.html',
    '/app/queue/git.example/acme/widgets.js/release/2.x',
    `/app/queue/${'long-'.repeat(100)}`,
  ])('serves its page at %s', async (path) => {
    const answer = await get(path);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body.replace(/<meta property="csp-nonce" nonce="[^"]{24}">/, '')).toBe(page);
  });

  it('allows its own scripts and styles, each page with a nonce of its own, and nothing else', async () => {
    const policies = await Promise.all([get('/app/'), get('/app/')]);
    const nonces = policies.map(({ body, headers }) => {
      const nonce = /nonce="([^"]+)"/.exec(body)![1]!;
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
      for (const rule of [
        "default-src 'self'",
        "script-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        // Where the form leads that registers an App.
        "form-action 'self' https://github.com https://git.example",
      ])
        expect(policy.split('; ')).toContain(rule);
      expect(policy).not.toContain('unsafe');
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
      });
      return nonce;
    });
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  it('serves files whose names hold their hash for ever, compressed for who understands it', async () => {
    const path = '/app/assets/index-abc.js';
    const plain = await get(path);
    expect(plain.body).toBe(script);
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    });
    const br = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.rawPayload).toString()).toBe(script);
    const zipped = await get(path, { 'accept-encoding': 'gzip' });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(script);
    expect((await get(path, { 'accept-encoding': 'brotli' })).headers['content-encoding']).toBeUndefined();
    const icon = await get('/app/icon.svg');
    expect([icon.headers['content-type'], icon.headers['cache-control']]).toEqual([
      'image/svg+xml',
      'no-cache',
    ]);
  });

  it.each([
    '/app/../secret.txt',
    '/app/%2e%2e/secret.txt',
    '/app/..%2fsecret.txt',
    '/app/assets/..%2f..%2fsecret.txt',
    '/app//etc/passwd',
  ])('serves nothing of the disk but its files: %s', async (path) => {
    const { body } = await get(path);
    expect(body).not.toMatch(/^secret|root:/);
  });

  it('has no page where a file or a call is missing', async () => {
    for (const path of [
      '/app/assets/index-old.js',
      '/app/api/nothing',
      '/app/api',
      '/app/api/call/getQueue',
    ]) {
      const answer = await get(path);
      expect([path, answer.statusCode, answer.json()]).toMatchObject([path, 404, { error: {} }]);
    }
  });

  it.each(['/app', '/'])('is found from %s', async (path) => {
    const answer = await get(path);
    expect([answer.statusCode, answer.headers['location']]).toEqual([302, '/app/']);
  });
});
