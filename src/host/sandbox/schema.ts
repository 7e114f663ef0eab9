import { z } from 'zod';

/** The body of a webhook of the sandbox: what changed, and nothing about how. */
export const SandboxEvent = z.object({
  event: z.literal('pull_request'),
  repository: z.object({ host: z.string(), owner: z.string(), name: z.string() }),
  number: z.int().positive(),
});
