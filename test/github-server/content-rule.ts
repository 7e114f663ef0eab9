// Rules on the commits and files of a push.
//
// - GitHub docs, "Available rules for rulesets", "Metadata restrictions" and the rules of push rulesets ("Restrict file
//   paths", "… file path length", "… file extensions", "… file size"), and the REST schema of each rule type.
// - "Require signed commits": every commit of the range must be verified. The server takes a commit with a signature for
//   verified; GitHub's own merge and squash commits are signed, rebased ones are not.
//
// GitHub publishes no list of the messages; these say what the rule says.

import { runGit } from '#git/run.ts';
import type { Rule } from './model.ts';

export const contentRules: ReadonlySet<string> = new Set([
  'required_signatures',
  'commit_message_pattern',
  'commit_author_email_pattern',
  'committer_email_pattern',
  'file_path_restriction',
  'max_file_path_length',
  'file_extension_restriction',
  'max_file_size',
]);

type Parameters = Readonly<Record<string, unknown>>;

/** `{ operator: 'starts_with', pattern: 'feature/', negate: false }`, as the pattern rules share it. */
export function patternFits(parameters: Parameters, value: string): boolean {
  const { operator, pattern, negate } = parameters;
  const text = String(pattern);
  const found = (): boolean => {
    switch (operator) {
      case 'starts_with':
        return value.startsWith(text);
      case 'ends_with':
        return value.endsWith(text);
      case 'contains':
        return value.includes(text);
      default:
        return new RegExp(text).test(value);
    }
  };
  return found() !== (negate === true);
}

export const patternWords = (subject: string, { pattern, negate }: Parameters): string =>
  `${subject} must ${negate === true ? 'not ' : ''}match a given pattern: ${String(pattern)}`;

/** Where the objects are: in a repository, or in the quarantine of a push. */
export type Objects = { readonly directory: string; readonly environment?: Readonly<Record<string, string>> };

export type Range = {
  /** Null: the branch is new, and only what no other branch has counts. */
  readonly from: string | null;
  readonly to: string;
  /** A merge or squash commit that GitHub made and signed itself. */
  readonly signedByGithub?: string;
};

async function lines(objects: Objects, args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await runGit(objects, { args: [...args] });
  return stdout.toString().split('\0').filter(Boolean);
}

type PushedCommit = {
  readonly sha: string;
  readonly author: string;
  readonly committer: string;
  readonly isSigned: boolean;
  readonly message: string;
};

async function commitsOf(objects: Objects, { from, to }: Range): Promise<readonly PushedCommit[]> {
  const range = from === null ? [to, '--not', '--all'] : [`${from}..${to}`];
  const format = '--format=%H%n%ae%n%ce%n%B';
  const found = await lines(objects, ['log', '-z', format, ...range, '--']);
  const commits = found.map((text) => {
    const [sha = '', author = '', committer = '', ...message] = text.replace(/^\n/, '').split('\n');
    return { sha, author, committer, message: message.join('\n').trimEnd() };
  });
  return Promise.all(commits.map(async (one) => ({ ...one, isSigned: await isSigned(objects, one.sha) })));
}

async function isSigned(objects: Objects, sha: string): Promise<boolean> {
  const { stdout } = await runGit(objects, { args: ['cat-file', 'commit', sha] });
  const headers = stdout.toString().split('\n\n', 1)[0]!;
  return /^gpgsig(-sha256)? /m.test(headers);
}

type ChangedFile = { readonly path: string; readonly bytes: number };

/** Files that commits of the range add or change. */
async function filesOf(objects: Objects, { from, to }: Range): Promise<readonly ChangedFile[]> {
  const range = from === null ? [to, '--not', '--all'] : [`${from}..${to}`];
  const args = ['log', '-z', '--raw', '--no-abbrev', '--format=', '--diff-filter=d', '-m', ...range, '--'];
  const found = await lines(objects, args);
  const files = new Map<string, string>();
  for (let at = 0; at + 1 < found.length; at += 2)
    files.set(found[at + 1]!, found[at]!.trim().split(' ')[3]!);
  return Promise.all(
    [...files].map(async ([path, blob]) => {
      const { stdout } = await runGit(objects, { args: ['cat-file', '-s', blob] });
      return { path, bytes: Number(stdout.toString().trim()) };
    }),
  );
}

/** A restricted path is a file, a folder, or a pattern with `*`. */
const isUnder = (path: string, restricted: string): boolean =>
  new RegExp(
    `^${restricted
      .replace(/^\//, '')
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'))}(/.*)?$`,
  ).test(path);

const commitRules: Readonly<
  Record<string, (commit: PushedCommit, parameters: Parameters, range: Range) => string | null>
> = {
  required_signatures: ({ sha, isSigned: has }, _, { signedByGithub }) =>
    has || sha === signedByGithub ? null : 'Commits must have verified signatures.',
  commit_message_pattern: ({ message }, parameters) =>
    patternFits(parameters, message) ? null : patternWords('Commit message', parameters),
  commit_author_email_pattern: ({ author }, parameters) =>
    patternFits(parameters, author) ? null : patternWords('Commit author email', parameters),
  committer_email_pattern: ({ committer }, parameters) =>
    patternFits(parameters, committer) ? null : patternWords('Committer email', parameters),
};

const megabyte = 1_048_576;

const fileRules: Readonly<Record<string, (file: ChangedFile, parameters: Parameters) => string | null>> = {
  file_path_restriction: ({ path }, parameters) =>
    (parameters['restricted_file_paths'] as readonly string[]).some((one) => isUnder(path, one))
      ? `File path is restricted: ${path}`
      : null,
  max_file_path_length: ({ path }, parameters) =>
    path.length > Number(parameters['max_file_path_length']) ? `File path is too long: ${path}` : null,
  file_extension_restriction: ({ path }, parameters) =>
    (parameters['restricted_file_extensions'] as readonly string[]).some((one) =>
      path.toLowerCase().endsWith(`.${one.replace(/^\*?\./, '').toLowerCase()}`),
    )
      ? `File extension is restricted: ${path}`
      : null,
  max_file_size: ({ path, bytes }, parameters) =>
    bytes > Number(parameters['max_file_size']) * megabyte ? `File is too large: ${path}` : null,
};

/** The first violation of a rule by what a push brings; null: there is none. */
export async function contentObjection(objects: Objects, range: Range, rule: Rule): Promise<string | null> {
  const { type, parameters = {} } = rule;
  const ofCommit = commitRules[type];
  const ofFile = fileRules[type];
  const words =
    ofCommit !== undefined
      ? (await commitsOf(objects, range)).map((commit) => ofCommit(commit, parameters, range))
      : ofFile !== undefined
        ? (await filesOf(objects, range)).map((file) => ofFile(file, parameters))
        : [];
  return words.find((word) => word !== null) ?? null;
}
