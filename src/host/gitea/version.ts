// Which of the two it is, and how new. Forgejo says which Gitea it was like when it went its own way:
// `11.0.3+gitea-1.22.0`.

import type { Clock } from '#base/clock.ts';
import type { OrganizationId } from '#base/id.ts';
import { HostError } from '../host.ts';
import type { Client } from './client.ts';
import { createShelf } from '#base/shelf.ts';
import { Version } from './schema.ts';

export type GiteaVersion = { readonly name: 'Gitea' | 'Forgejo'; readonly number: string };

export type VersionOf = (organizationId: OrganizationId) => Promise<GiteaVersion>;

/** Somebody may bring it up to date. */
const keptMs = 300_000;

export function versionFrom(text: string): GiteaVersion {
  const [number = ''] = text.split('+');
  return { name: /\+gitea-/.test(text) ? 'Forgejo' : 'Gitea', number };
}

export function createVersionOf(client: Client, clock: Clock): VersionOf {
  const memory = createShelf<GiteaVersion>(() => clock.now().getTime(), keptMs);
  return (organizationId) =>
    memory.recall(organizationId, async () => {
      const answer = await client.read(organizationId, Version, { path: '/version' });
      if (answer === null) throw new HostError('unavailable', 'Neither Gitea nor Forgejo answers there.');
      return versionFrom(answer.version);
    });
}
