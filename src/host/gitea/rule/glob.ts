// Patterns in Gitea's protection rules: `*` and `?` stop at a separator, `**` does not, `[a-z]`, `[!a]`,
// `{one,other}`, and `\` escapes the next character.
//
// A pattern is not turned into a regular expression: `*a*a*a*b` would take time that grows with a high power
// of the text's length. All states of the pattern that the text may have reached are followed at once, so
// that a match takes at most the product of both lengths.

/** Whether a pattern can match anything but itself. */
export const isPattern = (text: string): boolean => /[*?\\[\]{}]/.test(text);

/** Longer patterns match only themselves. */
const patternLengthMax = 512;

/** A malformed pattern matches only itself. */
export function matchesPattern(pattern: string, text: string, separator = ''): boolean {
  const places = pattern.length > patternLengthMax ? null : compilePattern(pattern, separator);
  return places === null ? pattern === text : isMatch(places, text);
}

/** A transition from one state of the pattern to another: by a character, or by none. */
type Way = { readonly takes: ((letter: string) => boolean) | null; readonly to: number };

/** The transitions of each state. The text begins at the first state and must end at `last`. */
type Places = { readonly ways: readonly (readonly Way[])[]; readonly last: number };

function compilePattern(pattern: string, separator: string): Places | null {
  const ways: Way[][] = [[]];
  const groups: { readonly start: number; readonly end: number }[] = [];
  let place = 0;
  const add = (): number => ways.push([]) - 1;
  const go = (from: number, takes: Way['takes'], to: number): void => void ways[from]!.push({ takes, to });
  const step = (takes: Way['takes'], to = add()): void => {
    go(place, takes, to);
    place = to;
  };
  const isOne = (letter: string): boolean => letter !== separator;
  for (const [token] of pattern.matchAll(/\*\*|\[!?(?:\\.|[^\]\\])*\]|\\.|[\s\S]/g)) {
    const group = groups.at(-1);
    if (token === '**' || token === '*') {
      step(null);
      go(place, token === '*' ? isOne : () => true, place);
    } else if (token === '?') step(isOne);
    else if (token === '{') {
      groups.push({ start: place, end: add() });
      step(null);
    } else if ((token === ',' || token === '}') && group !== undefined) {
      go(place, null, group.end);
      place = token === '}' ? group.end : group.start;
      if (token === ',') step(null);
      else groups.pop();
    } else {
      const takes = letterTest(token);
      if (takes === null) return null;
      step(takes);
    }
  }
  return groups.length === 0 ? { ways, last: place } : null;
}

/** Null: a set of letters that is none. */
function letterTest(token: string): ((letter: string) => boolean) | null {
  if (token.startsWith('\\') && token.length > 1) return (letter) => letter === token[1];
  if (token.length === 1) return (letter) => letter === token;
  try {
    const set = new RegExp(`^${token.startsWith('[!') ? `[^${token.slice(2)}` : token}$`, 's');
    return (letter) => set.test(letter);
  } catch {
    return null;
  }
}

function isMatch({ ways, last }: Places, text: string): boolean {
  const withFreeWays = (places: Set<number>): Set<number> => {
    for (const place of places) for (const { takes, to } of ways[place]!) if (takes === null) places.add(to);
    return places;
  };
  let reached = withFreeWays(new Set([0]));
  for (let at = 0; at < text.length && reached.size > 0; at += 1) {
    const next = new Set<number>();
    for (const place of reached)
      for (const { takes, to } of ways[place]!) if (takes?.(text[at]!) === true) next.add(to);
    reached = withFreeWays(next);
  }
  return reached.has(last);
}
