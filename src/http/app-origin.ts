// A call of the dashboard comes from the dashboard's own pages. The cookie alone would not prove that: a page of another
// site may make a browser send requests. So a call that changes something carries a header that no form can carry and
// no other site may send without being asked first, and the browser must say that it comes from here.

import type { FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { Deps } from './deps.ts';

const refusal = () =>
  appError('CROSS_SITE_REFUSED', {
    public:
      'This address is for the dashboard’s own pages. Use /v1 with an API token from anywhere else, and check SIGNALBOX_PUBLIC_URL if this is the dashboard.',
  });

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

export function requireOwnPage({ config }: Pick<Deps, 'config'>, request: FastifyRequest): void {
  const { 'sec-fetch-site': site, origin, 'x-signalbox-app': mark } = request.headers;
  if (request.method === 'GET') {
    // Nothing of it can be read from elsewhere; a page that is opened by hand comes from nowhere.
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refusal();
    return;
  }
  // Browsers tell the site only where the connection is safe, and always the origin of what is posted.
  const isOwn =
    site === undefined
      ? origin !== undefined && [request.host, hostOf(config.publicUrl)].includes(hostOf(origin))
      : site === 'same-origin';
  if (mark !== '1' || !isOwn) throw refusal();
}
