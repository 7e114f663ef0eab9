// Reads the uploads of a repository that are stored and not read yet.

import type { JobPayloads } from '#db/job.ts';
import type { TaskDeps } from './deps.ts';

export async function ingestUpload(_deps: TaskDeps, _payload: JobPayloads['ingest-upload']): Promise<void> {
  await Promise.resolve();
}
