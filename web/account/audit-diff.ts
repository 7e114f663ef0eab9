// What an entry of the audit log changed, field by field.

type AuditValue = unknown;

export type Difference = { readonly name: string; readonly before: AuditValue; readonly after: AuditValue };

const isRecord = (value: AuditValue): value is Readonly<Record<string, AuditValue>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `{ a: { b: 1 } }` → `a.b`: 1. A list is one value. */
function flat(value: AuditValue, prefix = ''): ReadonlyMap<string, AuditValue> {
  if (!isRecord(value)) return new Map(value === null || value === undefined ? [] : [[prefix, value]]);
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    return isRecord(inner) ? [...flat(inner, name)] : [[name, inner] as const];
  });
  return new Map(entries);
}

/** Only the fields that differ; a field that exists on one side only is undefined on the other. */
export function listDifferences(before: AuditValue, after: AuditValue): readonly Difference[] {
  const [old, now] = [flat(before), flat(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  return names.flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ name, before: was, after: is }];
  });
}

export function formatAuditValue(value: AuditValue): string {
  if (value === null || value === undefined) return 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatAuditValue).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const actionLabels: Readonly<Record<string, string>> = {
  'queue.create': 'Queue created',
  'queue.update': 'Queue changed',
  'queue.delete': 'Queue deleted',
  'queue.stop': 'Queue stopped automatically',
  'test.quarantine': 'Test quarantine changed',
  'test.flag': 'Test status set manually',
  'test.verify_fix': 'Verification of a fix',
  'test.mute': 'Test monitor muted',
  'test.ticket': 'Ticket linked to a test',
  'health.settings': 'Test-health settings changed',
  'token.create': 'Token created',
  'token.revoke': 'Token revoked',
  'host.connect': 'Git host connected',
  'queue.propose-triggers': 'Trigger for test branches proposed',
  'organization.create': 'Organization created',
};

/** The label of an action; an unknown action is shown as it is. */
export const formatAuditAction = (action: string): string => actionLabels[action] ?? action;

/** The filters of the log, by the prefix of the action. */
export const actionKinds = [
  { value: '', label: 'all changes' },
  { value: 'queue.', label: 'queues' },
  { value: 'test.', label: 'individual tests' },
  { value: 'health.', label: 'test-health settings' },
  { value: 'token.', label: 'tokens' },
  { value: 'host.', label: 'Git hosts' },
] as const;
