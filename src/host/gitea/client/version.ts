// The product, Gitea or Forgejo, and its version. Forgejo adds the version of Gitea that its API is
// compatible with: `11.0.3+gitea-1.22.0`.

import type { Clock } from '#base/clock.ts';
import type { OrganizationId } from '#base/id.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { HostError } from '../../host.ts';
import type { Client } from './client.ts';
import { Version } from '../schema.ts';

export type GiteaVersion = { readonly name: 'Gitea' | 'Forgejo'; readonly number: string };

export type VersionOf = (organizationId: OrganizationId) => Promise<GiteaVersion>;

/** The host may be upgraded meanwhile. */
const keptMs = 300_000;

export function versionFrom(text: string): GiteaVersion {
  const [number = ''] = text.split('+');
  return { name: /\+gitea-/.test(text) ? 'Forgejo' : 'Gitea', number };
}

export function createVersionReader(client: Client, clock: Clock): VersionOf {
  const versions = createTtlCache<GiteaVersion>({
    ttlMs: keptMs,
    max: 10_000,
    now: () => clock.now().getTime(),
  });
  return (organizationId) =>
    versions.load(organizationId, async () => {
      const answer = await client.read(organizationId, Version, { path: '/version' });
      if (answer === null)
        throw new HostError('unavailable', 'Neither Gitea nor Forgejo answers at this URL. Check it.');
      return versionFrom(answer.version);
    });
}
