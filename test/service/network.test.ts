import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { gitHttp, listenOnLoopback } from '../support/git-http.ts';
import { makeRemote, temporaryFolder } from '../support/git-remote.ts';

const run = promisify(execFile);

/** A name that nothing but the proxy can resolve. */
const name = 'git.example.test';

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy for plain requests and for tunnels that leads every name to loopback; it keeps what was asked of it. */
async function startProxy() {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    const { host, hostname, port, pathname, search } = new URL(request.url!);
    asked.push(`${request.method} ${hostname}`);
    const { method } = request;
    const headers = { ...request.headers, host };
    const onward = httpRequest(
      { host: '127.0.0.1', port, path: pathname + search, method, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(onward);
  });
  proxy.on('connect', (request, socket) => {
    const [hostname, port] = request.url!.split(':');
    asked.push(`CONNECT ${hostname}`);
    const onward = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [socket, onward]) each.on('error', () => undefined);
  });
  return { url: `http://127.0.0.1:${await listening(proxy)}`, asked };
}

function remoteFolder(): string {
  const remote = makeRemote();
  remote.set('refs/heads/main', remote.commit({ files: { a: 'a' } }));
  return dirname(remote.path);
}

async function reach(url: string, env: Record<string, string>): Promise<{ node: string; git: string }> {
  const program = new URL('../support/network-program.ts', import.meta.url).pathname;
  const { stdout } = await run(process.execPath, [program, `${url}/remote.git`, temporaryFolder()], {
    env: { PATH: process.env['PATH'], ...env },
  });
  return JSON.parse(stdout) as { node: string; git: string };
}

describe('a proxy', () => {
  it('that HTTP_PROXY names is used by node and by git, but for the names in NO_PROXY', async () => {
    const { port, close } = await listenOnLoopback(gitHttp(remoteFolder()));
    onTestFinished(close);
    const proxy = await startProxy();
    const url = `http://${name}:${port}`;
    expect(await reach(url, { HTTP_PROXY: proxy.url })).toEqual({ node: 'reached', git: 'reached' });
    expect(new Set(proxy.asked).size).toBeGreaterThan(0);
    proxy.asked.length = 0;
    const direct = await reach(url, { HTTP_PROXY: proxy.url, NO_PROXY: `other.test,${name}` });
    expect(direct.node).toMatch(/ENOTFOUND|EAI_AGAIN|fetch failed/);
    expect(direct.git).toMatch(/Could not resolve host/);
    expect(proxy.asked).toEqual([]);
    const own = await reach(`http://127.0.0.1:${port}`, { HTTP_PROXY: proxy.url });
    expect([own, proxy.asked]).toEqual([{ node: 'reached', git: 'reached' }, []]);
  });
});

describe('a Git host with a certificate of a private authority', () => {
  let folder: string;
  let certificate: string;
  beforeAll(() => {
    folder = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
    certificate = join(folder, 'ca.pem');
    const wish = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout key.pem -out ca.pem`;
    const names = `subjectAltName=DNS:${name},DNS:localhost`;
    execFileSync('openssl', [...wish.split(' '), '-addext', names], { cwd: folder, stdio: 'pipe' });
    return () => execFileSync('rm', ['-rf', folder]);
  });

  async function startHost(): Promise<number> {
    const options = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(certificate) };
    const server = createSecureServer(options, gitHttp(remoteFolder()));
    const port = await listening(server);
    onTestFinished(() => server.closeAllConnections());
    return port;
  }

  it.each(['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'])(
    'is reached by node and by git with %s',
    async (variable) => {
      const url = `https://localhost:${await startHost()}`;
      const stranger = await reach(url, {});
      expect(stranger.node).toMatch(/certificate/);
      expect(stranger.git).toMatch(/certificate/);
      expect(await reach(url, { [variable]: certificate })).toEqual({ node: 'reached', git: 'reached' });
    },
  );

  it('is reached through the tunnel of a proxy that HTTPS_PROXY names', async () => {
    const url = `https://${name}:${await startHost()}`;
    const proxy = await startProxy();
    const env = { https_proxy: proxy.url, SSL_CERT_FILE: certificate };
    expect(await reach(url, env)).toEqual({ node: 'reached', git: 'reached' });
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${name}`]));
  });
});
