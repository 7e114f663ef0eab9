// Patterns as Gitea writes them in rules of protection: `*` and `?` stop at a separator, `**` does not, `[a-z]`, `[!a]`,
// `{one,other}`, and `\` before what is meant as it is.
//
// A pattern is not made one regular expression: `*a*a*a*b` would take a power of the text's length. All places of the
// pattern that the text may have reached are followed at once, so that a match takes their product at most.

/** Whether a pattern can match anything but itself. */
export const isPattern = (text: string): boolean => /[*?\\[\]{}]/.test(text);

/** Longer ones match nothing but themselves. */
const patternLengthMax = 512;

/** One that is not well-formed matches nothing but itself. */
export function matchesPattern(pattern: string, text: string, separator = ''): boolean {
  const places = pattern.length > patternLengthMax ? null : placesOf(pattern, separator);
  return places === null ? pattern === text : isMatch(places, text);
}

/** A way from one place of the pattern to another: by a letter, or by none. */
type Way = { readonly takes: ((letter: string) => boolean) | null; readonly to: number };

/** The ways of each place. The text begins at the first place and must end at `last`. */
type Places = { readonly ways: readonly (readonly Way[])[]; readonly last: number };

function placesOf(pattern: string, separator: string): Places | null {
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
