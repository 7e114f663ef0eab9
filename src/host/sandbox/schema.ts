import { z } from 'zod';

const repository = z.object({ host: z.string(), owner: z.string(), name: z.string() });

/** The body of a webhook of the sandbox. */
export const SandboxEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('pull_request'), repository, number: z.int().positive() }),
  z.object({
    event: z.literal('status'),
    repository,
    sha: z.string(),
    name: z.string(),
    state: z.enum(['pending', 'success', 'failure', 'error']),
    url: z.string(),
    /** Milliseconds. */
    at: z.number(),
  }),
  /** Null: the branch is gone. */
  z.object({ event: z.literal('push'), repository, branch: z.string(), sha: z.string().nullable() }),
]);
export type SandboxEvent = z.infer<typeof SandboxEvent>;
