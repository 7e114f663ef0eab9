// Finds the entries of a queue that match a search text: a number with or without `#`, or terms of the title
// and the author.

type SearchableEntry = { readonly prNumber: number; readonly prTitle: string; readonly prAuthor: string };

/** The positions of matching entries, in queue order; all positions for an empty text. */
export function matchingPositions(
  entries: readonly SearchableEntry[],
  searchText: string,
): readonly number[] {
  const searchTerms = searchText.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ prNumber, prTitle, prAuthor }: SearchableEntry) => {
    const text = `#${prNumber} ${prTitle} ${prAuthor}`.toLowerCase();
    return searchTerms.every((searchTerm) => text.includes(searchTerm));
  };
  return entries.flatMap((entry, position) => (matches(entry) ? [position] : []));
}
