// YAML that others wrote.

import { parse } from 'yaml';

/** Undefined content: the text is empty. */
export type Yaml = { readonly kind: 'yaml'; readonly content: unknown } | { readonly kind: 'no-yaml' };

/** As data only, so that it can be sent from one process to another. */
export function parseYaml(text: string): Yaml {
  try {
    // No more aliases than a person writes: a file cannot make itself large. Keys are not compared with each other, which
    // would take the square of their number.
    const content: unknown = parse(text, { maxAliasCount: 100, uniqueKeys: false, logLevel: 'error' });
    return { kind: 'yaml', content };
  } catch {
    return { kind: 'no-yaml' };
  }
}
