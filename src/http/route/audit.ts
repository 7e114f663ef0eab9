// The audit log: who changed what.

import { type AuditFilter, listAudit } from '#db/audit-store.ts';
import type { Handlers } from '../endpoint/context.ts';
import { auditCursorFrom, auditCursorText } from '../guard/page-token.ts';

export const auditHandlers: Handlers<'listAuditLog'> = {
  listAuditLog: async ({ scope, cell }, { cursor, take, ...asked }) => {
    const filter: AuditFilter = {
      organizationId: scope.principal.organizationId,
      actor: asked.actor ?? null,
      action: asked.action ?? null,
      subject: asked.subject ?? null,
      since: asked.since ?? null,
      until: asked.until ?? null,
    };
    const list = { list: 'audit', ...filter };
    const after = typeof cursor === 'string' ? auditCursorFrom(list, cursor) : null;
    const { rows, next } = await listAudit(cell.reader, filter, after, take);
    return {
      entries: rows.map(({ seq: _seq, ...row }) => ({ ...row, at: row.at.toISOString() }) as never),
      ...(next === null ? {} : { nextCursor: auditCursorText(list, next) }),
    };
  },
};
