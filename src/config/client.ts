// The environment variables of the commands for CI (`signalbox test`, `signalbox upload`). They run where the service
// does not, and without its configuration.

import { withoutTrailing } from '#base/text.ts';
import type { CiEnv } from './ci-environment.ts';

/** Every variable, and what it does. */
export const clientVariables = {
  SIGNALBOX_URL: { doc: 'URL of Signalbox, for example `https://signalbox.example`.' },
  SIGNALBOX_API_TOKEN: {
    doc: 'API token with the scope `upload`, or more. With `upload` alone, results are shown but never change the status of a test.',
  },
  SIGNALBOX_ORG: { doc: 'Slug of the organization. Default: the organization of the token.' },
} as const;

export type ClientSettings = {
  /** Without a slash at its end; null: not said. */
  readonly url: string | null;
  readonly token: string | null;
  readonly organization: string | null;
};

export function readClientSettings(env: CiEnv): ClientSettings {
  const text = (name: keyof typeof clientVariables): string | null => env[name]?.trim() || null;
  return {
    url: withoutTrailing(text('SIGNALBOX_URL') ?? '', '/') || null,
    token: text('SIGNALBOX_API_TOKEN'),
    organization: text('SIGNALBOX_ORG'),
  };
}
