// The record of who changed what.

import { z } from 'zod';
import { InstantIn, InstantOut, line } from './common.ts';

export const ListAuditLogRequest = z.object({
  cursor: z.string().max(2_048).nullish().meta({ description: 'nextCursor of the page before.' }),
  take: z.int().min(1).max(100).default(50),
  actor: line(1, 255).nullish().meta({ description: 'Part of who did it, in any case of letters.' }),
  action: line(1, 100).nullish().meta({ description: 'What was done, or how that begins: `queue.`.' }),
  subject: line(1, 255).nullish().meta({ description: 'Part of what was changed, in any case of letters.' }),
  since: InstantIn.nullish().meta({ description: 'Changes from then on.' }),
  until: InstantIn.nullish().meta({ description: 'Changes before then.' }),
});

export const ListAuditLogResponse = z.object({
  entries: z
    .array(
      z
        .object({
          at: InstantOut,
          actor: z.string(),
          action: z.string(),
          subject: z.string(),
          before: z.json().nullable(),
          after: z.json().nullable(),
        })
        .meta({ id: 'AuditEntry' }),
    )
    .meta({
      description:
        'Newest first. With actor, action or subject a page may be short: it looks at 20,000 entries at most, and nextCursor goes on from there.',
    }),
  nextCursor: z.string().optional(),
});
