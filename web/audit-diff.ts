// What an entry of the audit log changed, field by field.

type Json = unknown;

export type Difference = { readonly name: string; readonly before: Json; readonly after: Json };

const isRecord = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `{ a: { b: 1 } }` → `a.b`: 1. A list is one value. */
function flat(value: Json, prefix = ''): ReadonlyMap<string, Json> {
  if (!isRecord(value)) return new Map(value === null || value === undefined ? [] : [[prefix, value]]);
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    return isRecord(inner) ? [...flat(inner, name)] : [[name, inner] as const];
  });
  return new Map(entries);
}

/** Only what differs; a field that is on one side alone is undefined on the other. */
export function differencesOf(before: Json, after: Json): readonly Difference[] {
  const [old, now] = [flat(before), flat(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  return names.flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ name, before: was, after: is }];
  });
}

export function sayJson(value: Json): string {
  if (value === null || value === undefined) return 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(sayJson).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const verbs: Readonly<Record<string, string>> = {
  'queue.create': 'Queue created',
  'queue.update': 'Queue changed',
  'queue.delete': 'Queue deleted',
  'queue.stop': 'Queue stopped by itself',
  'test.quarantine': 'Quarantine of a test set',
  'test.flag': 'Status of a test set',
  'test.mute': 'Monitor of a test muted',
  'test.ticket': 'Ticket of a test linked',
  'health.settings': 'Test-health settings changed',
  'token.create': 'Token created',
  'token.revoke': 'Token revoked',
  'host.connect': 'Host connected',
  'organization.create': 'Organization created',
};

/** What was done, in words; an action that is not known here is told as it is. */
export const sayAction = (action: string): string => verbs[action] ?? action;

/** What the log is narrowed to, by how actions begin. */
export const actionKinds = [
  { value: '', label: 'everything' },
  { value: 'queue.', label: 'queues' },
  { value: 'test.', label: 'single tests' },
  { value: 'health.', label: 'test-health settings' },
  { value: 'token.', label: 'tokens' },
  { value: 'host.', label: 'hosts' },
] as const;
