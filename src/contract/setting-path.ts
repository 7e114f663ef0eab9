// Settings by their paths with dots, as forms and command lines name them.

type PathValues = Readonly<Record<string, unknown>>;

/** `{ 'a.b': 1 }` → `{ a: { b: 1 } }`. */
export function nested(values: PathValues): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const parts = path.split('.');
    let inner = whole;
    for (const part of parts.slice(0, -1)) inner = (inner[part] ??= {}) as Record<string, unknown>;
    inner[parts.at(-1)!] = value;
  }
  return whole;
}

/** The value at a path with dots. */
export const valueAt = (whole: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, part) => (inner as PathValues | undefined)?.[part], whole);
