// How this process and the git that it starts reach Git hosts: through the proxy and with the certificate authorities that
// the usual variables name. Both are given the same, so that a host is reachable for both or for neither.
//
// Of these variables Node reads only NODE_EXTRA_CA_CERTS (Node.js docs, "Enterprise network configuration").
// git hands the proxy variables to curl, which reads HTTP_PROXY in lower case only (curl docs, "libcurl-env"), and takes its
// authorities from GIT_SSL_CAINFO, in place of those of the system (git docs, "http.sslCAInfo").

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join, resolve } from 'node:path';
import tls from 'node:tls';
import type { Log } from '#base/log.ts';

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Tools set these variables in upper or lower case. */
const proxyNames = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];
const loopback = ['localhost', '127.0.0.1', '::1'];
const passedNames = ['PATH', 'GIT_SSL_CAINFO', 'GIT_SSL_CAPATH', 'SSL_CERT_DIR', 'GIT_PROXY_SSL_CAINFO'];

/**
 * Makes this process use the proxy and the certificate authorities, and returns the variables for git. The
 * bundle of authorities for git is written to `dataDir`, if one is needed.
 */
export function configureNetwork(
  env: EnvironmentVariables,
  dataDir: string,
  log: Log,
): Readonly<Record<string, string>> {
  const proxies = readProxySettings(env);
  if (proxies['http_proxy'] !== undefined || proxies['https_proxy'] !== undefined) {
    // Since Node.js 24.14; before it NODE_USE_ENV_PROXY=1 does the same at the start.
    if (typeof http.setGlobalProxyFromEnv === 'function') http.setGlobalProxyFromEnv(proxies);
    else if (env['NODE_USE_ENV_PROXY'] !== '1')
      log.warn({ node: process.version }, 'this Node.js uses the proxy only with NODE_USE_ENV_PROXY=1');
    log.info({ noProxy: proxies['no_proxy'] ?? '' }, 'git hosts are reached through a proxy');
  }
  const passed = Object.fromEntries(
    passedNames.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])),
  );
  return { ...passed, ...proxies, ...installAuthorities(env, dataDir, log) };
}

function readProxySettings(env: EnvironmentVariables): Record<string, string> {
  const given = proxyNames.flatMap((name) => {
    const value = env[name] ?? env[name.toUpperCase()];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  const proxies: Record<string, string> = Object.fromEntries(given);
  const { all_proxy: all, ...rest } = proxies;
  const own = all === undefined ? rest : { http_proxy: all, https_proxy: all, ...rest };
  // Requests of this process to itself use no proxy.
  const without = [...loopback, ...(own['no_proxy']?.split(',') ?? [])].map((name) => name.trim());
  return Object.keys(own).length === 0 ? {} : { ...own, no_proxy: [...new Set(without)].join(',') };
}

/**
 * SSL_CERT_FILE and NODE_EXTRA_CA_CERTS add authorities to the default ones: a private one for GitHub
 * Enterprise Server must not make github.com unknown. git reads a single file, so it gets one with all of
 * them.
 */
function installAuthorities(env: EnvironmentVariables, dataDir: string, log: Log): Record<string, string> {
  const file = env['SSL_CERT_FILE'];
  const isExtended = [file, env['NODE_EXTRA_CA_CERTS']].some((value) => value !== undefined && value !== '');
  if (!isExtended) return {};
  // The default certificates include NODE_EXTRA_CA_CERTS.
  const known = tls.getCACertificates('default');
  const all = file === undefined || file === '' ? known : [...known, ...certificatesIn(file)];
  tls.setDefaultCACertificates(all);
  if (env['GIT_SSL_CAINFO']) return {};
  const bundle = join(resolve(dataDir), 'ca-bundle.pem');
  try {
    mkdirSync(resolve(dataDir), { recursive: true });
    writeFileSync(bundle, `${all.join('\n')}\n`);
  } catch (error) {
    // An API process does not need it, and often has no disk.
    log.warn({ bundle, err: error }, 'could not write certificate authorities for git');
    return {};
  }
  return { GIT_SSL_CAINFO: bundle };
}

const certificateEnd = '-----END CERTIFICATE-----';

/** The certificates in a file, without the text between them. */
const certificatesIn = (file: string): readonly string[] =>
  readFileSync(file, 'utf8')
    .split(certificateEnd)
    .flatMap((part) => {
      const begin = part.lastIndexOf('-----BEGIN CERTIFICATE-----');
      return begin === -1 ? [] : [`${part.slice(begin)}${certificateEnd}`];
    });
