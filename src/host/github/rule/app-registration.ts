// Registers a GitHub App for an organization, without values that a person copies: the browser takes a manifest to GitHub,
// the person confirms it there, and GitHub sends the browser back with a code. The code is exchanged for the private key
// (GitHub docs, "Registering a GitHub App from a manifest").

import { z } from 'zod';
import type { AppRegistration } from '../../app-registration.ts';
import { githubAppCredentials } from '../../connection.ts';
import { HostError } from '../../host.ts';
import { createOctokit, isCloud } from '../client/sender.ts';
import { parseFailure, toHostError } from '../client/trouble.ts';
import { appEvents, appPermissions } from './app-permission.ts';

/** The longest name that GitHub takes. */
const nameMax = 34;

const Conversion = z.object({
  id: z.int().positive(),
  pem: z.string().min(1),
  html_url: z.url({ protocol: /^https?$/ }),
});

/** @param page - the page of the App */
export const installUrlOf = (page: string): string => `${page}/installations/new`;

/** Where GitHub cannot send anything: it refuses a webhook there (GitHub docs, "Using webhooks with GitHub Apps"). */
const isLoopback = (url: string): boolean => {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
};

export const githubRegistration: AppRegistration = {
  describe: ({ url, owner, organization, publicUrl, returnUrl, state }) => {
    const account = owner === null ? '' : `/organizations/${encodeURIComponent(owner)}`;
    const hasWebhook = !isCloud({ url }) || !isLoopback(publicUrl);
    const manifest = {
      name: `Signalbox of ${organization}`.slice(0, nameMax),
      url: publicUrl,
      description: 'Merges pull requests that were tested on the state that the branch will have.',
      // Only its owner can install it. The installations of an App that others can install are not all ours.
      public: false,
      redirect_url: returnUrl,
      setup_url: returnUrl,
      // The connection sets the rest of the URL, and the secret.
      ...(hasWebhook ? { hook_attributes: { url: `${publicUrl}/hooks/`, active: true } } : {}),
      default_permissions: Object.fromEntries(appPermissions.map(({ name, access }) => [name, access])),
      default_events: appEvents,
    };
    return {
      action: `${url}${account}/settings/apps/new?state=${encodeURIComponent(state)}`,
      manifest: JSON.stringify(manifest),
    };
  },

  complete: async ({ url, log, timeoutMs = 10_000 }, code) => {
    const connection = { id: 'new', host: new URL(url).host, url };
    const octokit = createOctokit({ connection, log, timeoutMs });
    // The code works once.
    const asked = octokit.request('POST /app-manifests/{code}/conversions', {
      code,
      request: { retries: 0 },
    });
    const { data } = await asked.catch((error: unknown) => {
      throw explain(error);
    });
    const { id, pem, html_url: page } = Conversion.parse(data);
    return {
      credentials: githubAppCredentials({ appId: id, installationIds: [], privateKey: pem }),
      installUrl: installUrlOf(page),
    };
  },
};

function explain(error: unknown): unknown {
  const failure = parseFailure(error);
  if (failure === null) return error;
  return failure.status === 404
    ? new HostError(
        'forbidden',
        'GitHub does not know this code: it was used already, or is older than an hour. Start again, and delete the App that was registered before.',
      )
    : toHostError(failure, 'the request for the key of the App', Date.now());
}
