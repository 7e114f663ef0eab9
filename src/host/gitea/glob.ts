// Patterns as Gitea writes them in rules of protection: `*` and `?` stop at a separator, `**` does not, `[a-z]`, `[!a]`,
// `{one,other}`, and `\` before what is meant as it is.

/** Whether a pattern can match anything but itself. */
export const isPattern = (text: string): boolean => /[*?\\[\]{}]/.test(text);

/** One that is not well-formed matches nothing but itself. */
export function matchesPattern(pattern: string, text: string, separator = ''): boolean {
  const expression = expressionOf(pattern, separator);
  return expression === null ? pattern === text : expression.test(text);
}

function expressionOf(pattern: string, separator: string): RegExp | null {
  const one = separator === '' ? '.' : `[^${separator}]`;
  const tokens = /\*\*|\[!?(?:\\.|[^\]\\])*\]|\\.|[\s\S]/g;
  let depth = 0;
  const source = [...pattern.matchAll(tokens)].map(([token]) => {
    if (token === '**') return '.*';
    if (token === '*') return `${one}*`;
    if (token === '?') return one;
    if (token.length > 1) return token.startsWith('[!') ? `[^${token.slice(2)}` : token;
    if (token === '{') depth += 1;
    if (token === '{') return '(?:';
    if (token === '}' && depth > 0) depth -= 1;
    else return token === ',' && depth > 0 ? '|' : token.replace(/[.+^$()|[\]{}\\/-]/, '\\$&');
    return ')';
  });
  try {
    return depth === 0 ? new RegExp(`^${source.join('')}$`, 's') : null;
  } catch {
    return null;
  }
}
