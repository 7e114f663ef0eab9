/** Reading of JSON whose shape is not known yet. */

/** The value under these keys, or undefined as soon as one is missing. */
export function pick(value: unknown, ...keys: readonly (string | number)[]): unknown {
  let current = value;
  for (const key of keys) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string | number, unknown>)[key];
  }
  return current;
}

/** The list under these keys; an empty one when there is none. */
export function pickList(value: unknown, ...keys: readonly (string | number)[]): readonly unknown[] {
  const found = pick(value, ...keys);
  return Array.isArray(found) ? found : [];
}

export function has(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
