// Text of reports on terminals and in CI logs. The authors of the tests wrote it, so it must not move the
// cursor, hide a line, or be taken for a command by the CI that shows the log.

const unseen =
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be shown
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Half of a surrogate pair, which a terminal cannot show. */
const broken = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Azure, TeamCity and GitHub execute `##name[…]` anywhere in a line. */
const order = /##(?=[a-z-]*\[)/gi;

/** GitHub executes `::name …::` at the beginning of a line. */
const beginning = /^(\s*):(?=:)/;

/** One line of at most `lengthMax` characters; invisible characters are written as \\uXXXX. */
export function plainLine(text: string, lengthMax = 200): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
  return cut
    .replace(/[\r\n\t]+/g, ' ')
    .replace(unseen, escaped)
    .replace(broken, '\ufffd')
    .replace(order, '# #')
    .replace(beginning, '$1: ');
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
