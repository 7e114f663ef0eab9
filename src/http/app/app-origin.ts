// A call of the dashboard must come from the dashboard's own pages. The cookie alone does not prove that: a
// page of another site may make a browser send requests. So a call that changes something carries a header
// that no form can send and that another site may send only after a preflight, and the browser must report
// that the call comes from here.

import type { FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { Deps } from '../deps.ts';

const refusal = () =>
  appError('CROSS_SITE_REFUSED', {
    public:
      'Only the dashboard’s own pages may call this URL. Elsewhere, use /v1 with an API token. If this is the dashboard, check SIGNALBOX_PUBLIC_URL.',
  });

const parseHost = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

export function requireOwnPage({ config }: Pick<Deps, 'config'>, request: FastifyRequest): void {
  const { 'sec-fetch-site': site, origin, 'x-signalbox-app': mark } = request.headers;
  if (request.method === 'GET') {
    // Another site cannot read the answer; for a page that the user opens directly the site is `none`.
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refusal();
    return;
  }
  // Browsers send the site only over a secure connection, but always send the origin with a POST.
  const isOwn =
    site === undefined
      ? origin !== undefined && [request.host, parseHost(config.publicUrl)].includes(parseHost(origin))
      : site === 'same-origin';
  if (mark !== '1' || !isOwn) throw refusal();
}
