/**
 * What git accepts as a branch name (git check-ref-format): no blanks, control characters or any of ~^:?*[\, no part
 * that begins with a dot or ends in .lock, nothing that a revision could be mistaken for. The published contract holds
 * the same pattern.
 */
export const branchNamePattern =
  '^(?!HEAD$)(?!@$)(?![-/.])(?!.*(\\.\\.|@\\{|//|/\\.|\\.lock(/|$)))' +
  '[^\\u0000-\\u0020\\u007f~^:?*\\[\\\\]*[^\\u0000-\\u0020\\u007f~^:?*\\[\\\\/.]$';

const branchName = new RegExp(branchNamePattern, 'u');

/** Longest name that is taken, in characters. */
export const branchNameLengthMax = 255;

export const isBranchName = (name: string): boolean =>
  name.length <= branchNameLengthMax && branchName.test(name);
