// What the commands for CI (`signalbox test`, `signalbox upload`) take from the environment. They run where the service
// does not, and with none of its configuration.

import { withoutTrailing } from '#base/text.ts';
import type { CiEnv } from './ci.ts';

/** Every variable, and what it does. */
export const clientVariables = {
  SIGNALBOX_URL: { doc: 'Where Signalbox is, for example `https://signalbox.example`.' },
  SIGNALBOX_API_TOKEN: {
    doc: 'Token with the scope `upload`, or more. With `upload` alone results are shown and judge nothing.',
  },
  SIGNALBOX_ORG: { doc: 'Slug of the organization. Default: that of the token.' },
} as const;

export type ClientSettings = {
  /** Without a slash at its end; null: not said. */
  readonly url: string | null;
  readonly token: string | null;
  readonly organization: string | null;
};

export function clientSettingsOf(env: CiEnv): ClientSettings {
  const text = (name: keyof typeof clientVariables): string | null => env[name]?.trim() || null;
  return {
    url: withoutTrailing(text('SIGNALBOX_URL') ?? '', '/') || null,
    token: text('SIGNALBOX_API_TOKEN'),
    organization: text('SIGNALBOX_ORG'),
  };
}
