// Names and texts that other people chose, in Markdown: nothing in them becomes markup, a link or a mention.

/** A name as code. */
export const code = (text: string): string => `\`${text.replaceAll(/[`\r\n]/g, '').slice(0, 200)}\``;
/** Text of others, on one line and as code: nothing in it is markup, a link or a mention. */
export const quoted = (text: string): string =>
  `\`${text.replaceAll('`', "'").replaceAll(/\s+/g, ' ').trim().slice(0, 1_000)}\``;
export const short = (sha: string): string => code(sha.slice(0, 12));
/**
 * Numbers of pull requests as code: each link would leave a line "referenced this" on the page of the other
 * pull request, and what an entry waits for changes all the time.
 */
export const quiet = (sentence: string): string => unmarked(sentence).replaceAll(/#\d+/g, code);

/**
 * A sentence with names in it that others chose (of checks, in the `.signalbox.yaml` of a pull request),
 * without anything that would be a mention, a link, a picture or HTML. A zero-width character breaks
 * mentions: hosts find mentions after they have removed backslashes.
 */
export const unmarked = (sentence: string): string =>
  sentence
    .replaceAll(/[[\]<>*~`\\]/g, String.raw`\$&`)
    .replaceAll('@', '@\u2060')
    .replaceAll('://', ':\u2060//');
export const numbers = (prs: readonly number[]): string => prs.map((pr) => code(`#${pr}`)).join(', ');

/** A name with the URL of its details; only http and https URLs become links. */
export const linked = (name: string, url: string): string =>
  /^https?:\/\/[^\s()<>]+$/.test(url) ? `[${code(name)}](${url})` : code(name);
