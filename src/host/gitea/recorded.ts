// Webhooks and answers of a real Gitea 1.26, without the fields that Signalbox does not read: for tests.

import { readFileSync } from 'node:fs';

type GiteaRecording = {
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly answers: Readonly<Record<string, unknown>>;
};

export const recorded = JSON.parse(
  readFileSync(new URL('recorded.json', import.meta.url), 'utf8'),
) as GiteaRecording;
