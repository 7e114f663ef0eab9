// Patterns of paths: `*` and `?` match within one folder, `**` matches any number of folders, `{a,b}` matches either. A
// pattern that ends with a slash matches everything in the folder. Names that start with a dot match like any other.

/** At most; longer ones are refused where they are read. */
export const globLengthMax = 200;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export function pathGlob(pattern: string): (path: string) => boolean {
  const text = pattern.replace(/^\.?\//, '').replace(/\/$/, '/**');
  const parts = text.match(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[^*?{]+|./g) ?? [];
  const source = parts.map((part) => {
    if (part === '**/') return '(?:[^/]+/)*';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.startsWith('{') && part.endsWith('}'))
      return `(?:${part.slice(1, -1).split(',').map(escaped).join('|')})`;
    return escaped(part);
  });
  const expression = new RegExp(`^${source.join('')}$`, 's');
  return (path) => expression.test(path);
}
