// oxlint-disable-next-line no-control-regex -- control characters are what must be refused
const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$|^@$|(^|\/)\.|\.lock(\/|$)/;

/** What git accepts as a branch name (git check-ref-format), bounded to 255 characters. */
export const isBranchName = (name: string): boolean =>
  name.length > 0 && name.length <= 255 && !forbidden.test(name);
