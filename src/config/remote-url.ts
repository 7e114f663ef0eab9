// Finds the repository that a git remote names. Remotes are URLs or in git's short form, with logins, ports and nested
// groups:
//
//   https://user:secret@git.example.com:8443/group/sub/widgets.git   git.example.com:8443, group/sub, widgets
//   git@github.com:acme/widgets.git                                  github.com, acme, widgets
//   ssh://git@git.example.com:2222/acme/widgets                      git.example.com, acme, widgets
//
// The port of an http URL is part of the host's name; the port of ssh is not, because no http URL has it.

import { textBefore, withoutTrailing } from '#base/text.ts';
import type { RepositoryName } from '#core/repository.ts';

/** Null: a local path, or nothing that names a host, an owner and a repository. */
export function repositoryOfRemote(address: string): RepositoryName | null {
  const text = address.trim();
  const [start = '', scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  if (start !== '') {
    const slash = text.indexOf('/', start.length);
    const authority = text.slice(start.length, slash === -1 ? undefined : slash);
    const place = authority.slice(authority.lastIndexOf('@') + 1);
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]+)(:\d+)?$/.exec(place) ?? [];
    if (slash === -1 || scheme.toLowerCase() === 'file') return null;
    return parseRepositoryPath(/^https?$/i.test(scheme) ? host + port : host, text.slice(slash + 1));
  }
  // The short form has a host before the first colon, and a host has no slash. A single letter is a Windows drive.
  const [, host = '', path = ''] = /^(?:[^@/\s]+@)?([^/:\s]{2,}):(?!\/\/)(.+)$/.exec(text) ?? [];
  return parseRepositoryPath(host, path);
}

/** `host/owner/name` as people write it; the owner may hold slashes. */
export function repositoryOfText(text: string): RepositoryName | null {
  const [, host = '', path = ''] = /^(?:https?:\/\/)?([^/@\\\s]+)\/(.+)$/i.exec(text.trim()) ?? [];
  return parseRepositoryPath(host, path);
}

function parseRepositoryPath(host: string, path: string): RepositoryName | null {
  const parts = withoutTrailing(textBefore(path, '?#'), '/')
    .replace(/\.git$/i, '')
    .split('/')
    .filter((part) => part !== '');
  // Azure has its own shapes: organization/project/_git/name, and over ssh v3/organization/project/name.
  const isAzureSsh = /^(ssh\.dev\.azure|vs-ssh\.visualstudio)\.com$/i.test(host) && parts[0] === 'v3';
  const named = isAzureSsh ? parts.slice(1) : parts.filter((part) => part !== '_git');
  const name = named.at(-1);
  const owner = named.slice(0, -1).join('/');
  if (host === '' || name === undefined || owner === '' || /\s/.test(path)) return null;
  return { host: isAzureSsh ? 'dev.azure.com' : host.toLowerCase(), owner, name };
}
