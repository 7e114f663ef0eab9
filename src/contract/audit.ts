// The record of who changed what.

import { z } from 'zod';
import { InstantIn, InstantOut, line } from './common.ts';

export const ListAuditLogRequest = z.object({
  cursor: z.string().max(2_048).nullish().meta({ description: 'nextCursor of the previous page.' }),
  take: z.int().min(1).max(100).default(50),
  actor: line(1, 255)
    .nullish()
    .meta({ description: 'Only changes whose actor contains this text, ignoring case.' }),
  action: line(1, 100)
    .nullish()
    .meta({ description: 'Only changes with this action, or with actions that start with it: `queue.`.' }),
  subject: line(1, 255)
    .nullish()
    .meta({ description: 'Only changes whose subject contains this text, ignoring case.' }),
  since: InstantIn.nullish().meta({ description: 'Only changes at or after this time.' }),
  until: InstantIn.nullish().meta({ description: 'Only changes before this time.' }),
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
        'Newest first. With actor, action or subject a page can be short: each request reads at most 20,000 entries, and nextCursor continues after them.',
    }),
  nextCursor: z.string().optional(),
});
