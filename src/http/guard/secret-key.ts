// The key that encrypts what is secret in the database: credentials of Git hosts, URLs and secrets of webhook endpoints.

import { appError } from '#base/error.ts';
import type { SecretKey } from '#db/seal.ts';
import type { Deps } from '../deps.ts';

export function requireSecretKey({ deps }: { readonly deps: Pick<Deps, 'config'> }): SecretKey {
  if (deps.config.secretKey !== null) return deps.config.secretKey;
  throw appError('SECRET_KEY_MISSING', {
    public:
      'Signalbox encrypts credentials and secrets, and this installation has no key. Create one with `openssl rand -base64 32`, set it as SIGNALBOX_SECRET_KEY for every process, and restart them.',
  });
}
