// Names between the snake_case of test health and the camelCase of the code.

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : '';

export type SnakeKeys<Value> = {
  -readonly [Key in keyof Value as Key extends string ? Snake<Key> : never]: Value[Key];
};

const renameKeys = (rename: (key: string) => string, value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [rename(key), inner]),
  );

const toSnake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const toCamel = (key: string): string =>
  key.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

/** Without the keys whose value is undefined. */
export const snakeKeys = <Value extends object>(value: Value): SnakeKeys<Value> =>
  renameKeys(toSnake, value) as SnakeKeys<Value>;

/** Without the keys whose value is undefined. */
export const camelKeys = (value: object): Record<string, unknown> => renameKeys(toCamel, value);
