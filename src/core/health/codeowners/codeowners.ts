// The owners of a file, by the repository's CODEOWNERS. The hosts that have such a file agree on its name
// only:
//
//   GitHub   The last rule that matches a file counts; a rule without owners leaves the file without an
//            owner. Patterns are those of gitignore, without `!` and `[ ]`: a pattern with a slash before its
//            end begins at the root, any other one matches at every depth, and a pattern that names a folder
//            matches everything below it. `docs/*` does not: it matches only what is directly in `docs`. A
//            line that cannot be parsed is skipped and reported.
//   GitLab   Rules stand in sections (`[Name]`, `^[Name]` where approval is optional, `[Name][2]` where two
//            must approve), and every section counts: the owners of a file are those of all sections
//            together. A rule without owners has those of its section's heading. `!pattern` excludes files
//            from its section for good. A pattern without a leading slash matches at every depth, and one
//            without a slash at its end means the file of just that name. `[a-c]` is a set of characters. A
//            rule has no trailing comment.
//
//   * @org/all                     src/pay/card.ts → @org/pay    (GitHub: the later rule)
//   /src/pay/ @org/pay # cards     README.md       → @org/all
//   /src/pay/fixture/              src/pay/fixture/a.json → no owner
//
// Patterns come from uploads and are not trusted, so none becomes a regular expression: a match takes at most
// time proportional to the length of the pattern times that of the path.

import {
  type CodeownersSyntax,
  type MatchBudget,
  type Pattern,
  compilePattern,
  matches,
  plainPrefix,
} from './codeowners-pattern.ts';

export type Codeowners = {
  readonly syntax: CodeownersSyntax;
  /** GitHub's files are one section. */
  readonly sections: readonly Section[];
  /** The lines that were skipped, at most 100. */
  readonly problems: readonly CodeownersProblem[];
};

type CodeownersProblem = {
  /** From 1; 0: the file as a whole. */
  readonly line: number;
  readonly message: string;
};

type Section = {
  /** In lower case; empty: before the first heading. */
  readonly name: string;
  readonly rules: RuleNode;
  readonly exclusions: RuleNode;
};

type CodeownersRule = {
  /** Later rules have the higher number. */
  readonly order: number;
  readonly pattern: Pattern;
  readonly owners: readonly string[];
};

/** Rules by the plain names that a path must begin with, so that a search tries few of a file's thousands. */
type RuleNode = {
  readonly rules: CodeownersRule[];
  readonly below: Map<string, RuleNode>;
};

/** GitHub loads no larger file either. In characters, which is not more than in bytes. */
const textLengthMax = 3 * 1024 * 1024;
const rulesMax = 50_000;
const ownersPerRuleMax = 100;
const problemsMax = 100;
const pathLengthMax = 4096;
/** Bounds the memory that a file of many deep paths takes. */
const indexDepthMax = 4;
/** Many times what a search in the largest known files takes. */
const stepsMax = 5_000_000;
/** Some seconds at most. */
const stepsMaxTogether = 300_000_000;
/** Files that one search remembers. */
const knownMax = 100_000;

const heading = /^\^?\[([^\]]+)\](?:\[\d*\])?(?:[ \t](.*))?$/s;
const mention = /^@{1,2}[A-Za-z0-9_][A-Za-z0-9_.\-/]*$/;
const email = /^[^\s@\p{C}<>"(),:;[\]\\]+@[A-Za-z0-9][A-Za-z0-9.-]*$/u;

/** GitLab's if a line is a section's heading, an exclusion or names a role; the same file otherwise means GitHub's. */
export function detectCodeownersSyntax(text: string): CodeownersSyntax {
  return splitLines(text).some((line) => heading.test(line) || line.startsWith('!') || /[ \t]@@\w/.test(line))
    ? 'gitlab'
    : 'github';
}

/** Lines that are parsed in one part. */
const linesOfPart = 1_000;

/**
 * Parses what it can: a file that is too large owns nothing, and a line that cannot be parsed is skipped. It
 * yields after each part of the file, so that the caller can do other work: the largest file takes some
 * tenths of a second.
 */
export function* parseInParts(
  text: string,
  syntax = detectCodeownersSyntax(text),
): Generator<void, Codeowners, void> {
  const problems: CodeownersProblem[] = [];
  const leaveOut = (line: number, message: string) => {
    if (problems.length < problemsMax) problems.push({ line, message });
  };
  const nothing = (message: string) => ({ syntax, sections: [], problems: [{ line: 0, message }] });
  if (text.length > textLengthMax) return nothing('The file is larger than 3 MiB, so Signalbox ignores it.');
  const sections = new Map<string, Section>();
  let section = ensureSection(sections, '');
  let defaults: readonly string[] = [];
  let order = 0;
  for (const [index, line] of splitLines(text).entries()) {
    if (index % linesOfPart === 0) yield;
    if (line === '' || line.startsWith('#')) continue;
    const [, name, owners] = (syntax === 'gitlab' && heading.exec(line)) || [];
    if (name !== undefined) {
      section = ensureSection(sections, name.trim().toLowerCase());
      defaults = ownersIn(splitAtBlanks(owners ?? ''));
      continue;
    }
    if (order >= rulesMax) return nothing('The file has more than 50,000 rules, so Signalbox ignores it.');
    const found = readRule(line, syntax, defaults);
    if (typeof found === 'string') leaveOut(index + 1, found);
    else insert(found.isExclusion ? section.exclusions : section.rules, { ...found, order: order++ });
  }
  return { syntax, sections: [...sections.values()], problems };
}

/** Without the byte order mark, and each without blanks around it. */
function splitLines(text: string): readonly string[] {
  if (text.length > textLengthMax) return [];
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n|\r/)
    .map((line) => line.trim());
}

/** Sections of the same name are one. */
function ensureSection(sections: Map<string, Section>, name: string): Section {
  const known = sections.get(name);
  if (known !== undefined) return known;
  const section = { name, rules: emptyNode(), exclusions: emptyNode() };
  sections.set(name, section);
  return section;
}

type FoundRule = Omit<CodeownersRule, 'order'> & { readonly isExclusion: boolean };

/** Or what is wrong with the line. */
function readRule(line: string, syntax: CodeownersSyntax, defaults: readonly string[]): FoundRule | string {
  const [first = '', ...rest] = splitAtBlanks(line);
  const isExclusion = syntax === 'gitlab' && first.startsWith('!');
  const pattern = compilePattern(isExclusion ? first.slice(1) : first, syntax);
  if (pattern === null) return 'The pattern is not valid.';
  if (syntax === 'gitlab') {
    const owners = ownersIn(rest);
    return { pattern, owners: owners.length === 0 ? defaults : owners, isExclusion };
  }
  const comment = rest.findIndex((token) => token.startsWith('#'));
  const given = comment < 0 ? rest : rest.slice(0, comment);
  const owners = ownersIn(given);
  // As on GitHub, a line that can be parsed only in part is skipped: half of its owners would be a guess.
  if (given.some((token) => !isOwner(token)))
    return 'An owner is not @name, @organization/team or an email address.';
  return { pattern, owners, isExclusion };
}

/** Separated by blanks that have no backslash before them; the backslashes stay. */
const splitAtBlanks = (line: string): readonly string[] => line.match(/(?:\\.|[^ \t\\]|\\$)+/g) ?? [];

const isOwner = (token: string): boolean => token.length <= 255 && (mention.test(token) || email.test(token));

const ownersIn = (tokens: readonly string[]): readonly string[] =>
  [...new Set(tokens.filter(isOwner))].slice(0, ownersPerRuleMax);

const emptyNode = (): RuleNode => ({ rules: [], below: new Map() });

function insert(root: RuleNode, rule: CodeownersRule): void {
  let node = root;
  for (const name of plainPrefix(rule.pattern, indexDepthMax)) {
    const next = node.below.get(name) ?? emptyNode();
    node.below.set(name, next);
    node = next;
  }
  node.rules.push(rule);
}

/**
 * The owners of a file, by its path from the repository's root: as they are written in the file, without
 * repeats. Once the budget is used up, its steps are below 0 and the remaining files have no owner.
 */
export function findOwners(
  rules: Codeowners,
  filePath: string,
  budget: MatchBudget = { steps: stepsMax },
): readonly string[] {
  if (filePath.length > pathLengthMax) return [];
  const path = filePath.replace(/^(?:\.?\/)+/, '').split('/');
  const found = new Set<string>();
  for (const section of rules.sections) {
    if (lastMatch(section.exclusions, path, budget) !== null) continue;
    for (const owner of lastMatch(section.rules, path, budget)?.owners ?? []) found.add(owner);
  }
  return budget.steps < 0 ? [] : [...found];
}

/** `findOwners` for the many files of an upload: each is looked up once, and all of them together have one budget. */
export function createOwnerLookup(
  rules: Codeowners,
  budget: MatchBudget = { steps: stepsMaxTogether },
): (filePath: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (filePath) => {
    const found = known.get(filePath) ?? ownersWithin(rules, filePath, budget);
    if (known.size < knownMax) known.set(filePath, found);
    return found;
  };
}

/** One file uses no more than its own share of the common budget. */
function ownersWithin(rules: Codeowners, filePath: string, budget: MatchBudget): readonly string[] {
  const own = { steps: Math.min(stepsMax, budget.steps) };
  const given = own.steps;
  const found = findOwners(rules, filePath, own);
  budget.steps -= given - own.steps;
  return found;
}

function lastMatch(root: RuleNode, path: readonly string[], budget: MatchBudget): CodeownersRule | null {
  let last: CodeownersRule | null = null;
  let node: RuleNode | undefined = root;
  for (let depth = 0; node !== undefined; depth++) {
    for (let at = node.rules.length - 1; at >= 0; at--) {
      const rule = node.rules[at];
      if (rule === undefined || (last !== null && rule.order < last.order) || budget.steps < 0) break;
      if (!matches(rule.pattern, path, depth, budget)) continue;
      last = rule;
      break;
    }
    node = depth < path.length ? node.below.get(path[depth] ?? '') : undefined;
  }
  return last;
}
