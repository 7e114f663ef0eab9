// Which entries of a line match what somebody types: a number with or without its sign, or words of title and author.

type Findable = { readonly prNumber: number; readonly prTitle: string; readonly prAuthor: string };

/** Their places in the line, in order; all of them where nothing is typed. */
export function matchingPlaces(entries: readonly Findable[], wanted: string): readonly number[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ prNumber, prTitle, prAuthor }: Findable) => {
    const text = `#${prNumber} ${prTitle} ${prAuthor}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return entries.flatMap((entry, place) => (matches(entry) ? [place] : []));
}
