import { z } from 'zod';

const repository = z.object({ host: z.string(), owner: z.string(), name: z.string() });

/** The body of a webhook of the sandbox. */
export const SandboxEvent = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('pull_request'),
    repository,
    number: z.int().positive(),
    /** Of a push. */
    head: z.object({ sha: z.string(), at: z.number().nullable() }).optional(),
  }),
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
  z.object({
    event: z.literal('check_run'),
    repository,
    sha: z.string(),
    suite: z.string(),
    name: z.string(),
    status: z.enum(['queued', 'in_progress', 'completed']),
    conclusion: z.string().nullable(),
    url: z.string(),
    at: z.number(),
    app: z.string().nullable(),
  }),
  z.object({
    event: z.literal('comment'),
    repository,
    number: z.int().positive(),
    id: z.string(),
    author: z.string(),
    text: z.string(),
    /** Milliseconds. */
    writtenAt: z.number(),
  }),
  z.object({
    event: z.literal('label'),
    repository,
    number: z.int().positive(),
    label: z.string().nullable(),
    labels: z.array(z.string()),
  }),
  /** Null: the branch is gone. */
  z.object({ event: z.literal('push'), repository, branch: z.string(), sha: z.string().nullable() }),
]);
export type SandboxEvent = z.infer<typeof SandboxEvent>;
