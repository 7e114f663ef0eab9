// What a real Gitea 1.26 sent and answered, without what nobody reads: for tests.

import { readFileSync } from 'node:fs';

type Recorded = {
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly answers: Readonly<Record<string, unknown>>;
};

export const recorded = JSON.parse(
  readFileSync(new URL('recorded.json', import.meta.url), 'utf8'),
) as Recorded;
