// What Signalbox writes on pull requests: the status comment, and labels.

import type { HostRepository, StatusComment } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { Anything, type GithubComment, Comments, Identified, Labels } from '../schema.ts';

/** The mark is invisible in the rendered text. */
export const marked = ({ mark, body }: Pick<StatusComment, 'mark' | 'body'>): string =>
  `${body}\n\n<!-- ${mark} -->`;

export async function writeComment(
  client: GithubClient,
  keep: (written: Identified) => void,
  repository: HostRepository,
  number: number,
  comment: StatusComment,
): Promise<string> {
  const { owner, name: repo } = repository;
  const { id, mayExist } = comment;
  const body = marked(comment);
  const known = id ?? (mayExist ? await findComment(client, repository, number, comment) : null);
  if (known !== null) {
    const path = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
    const parameters = { owner, repo, comment_id: known, body };
    const edited = await client.attempt(path, parameters, Identified, [404, 410], { isRepeatable: true });
    if (edited.kind === 'done') {
      keep(edited.value);
      return known;
    }
  }
  const path = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const written = await client.write(path, { owner, repo, issue_number: number, body }, Identified);
  keep(written);
  return String(written.id);
}

/**
 * Finds only Signalbox's own comments: anyone can write the mark, and Signalbox can edit comments of others.
 */
async function findComment(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  issue_number: number,
  { mark }: StatusComment,
): Promise<string | null> {
  const path = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
  const isMarked = ({ body }: GithubComment) => body?.includes(`<!-- ${mark} -->`) === true;
  for await (const page of client.readPages(path, { owner, repo, issue_number }, Comments))
    for (const comment of page.filter(isMarked)) if (await isOurs(client, comment)) return String(comment.id);
  return null;
}

export async function isOurs(
  { auth, login }: GithubClient,
  { user, performed_via_github_app: app }: Pick<GithubComment, 'user' | 'performed_via_github_app'>,
): Promise<boolean> {
  if (auth.appId !== null) return app?.id === auth.appId;
  return user?.login.toLowerCase() === (await login())?.toLowerCase();
}

const key = (label: string): string => label.toLowerCase();

export async function changeLabels(
  { read, write, attempt }: GithubClient,
  { owner, name: repo }: HostRepository,
  issue_number: number,
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): Promise<void> {
  const where = { owner, repo, issue_number };
  const path = '/repos/{owner}/{repo}/issues/{issue_number}/labels';
  const options = { isRepeatable: true };
  // Removing one label is one call; listing which of many are present is one call, too.
  const mustListLabels = remove.length + add.length > 1 && remove.length > 0;
  const found = mustListLabels ? await read(path, { ...where, per_page: 100 }, Labels) : null;
  const there = found === null ? null : new Set(found.map(({ name }) => key(name)));
  for (const name of remove)
    if (there === null || there.has(key(name)))
      await attempt(`DELETE ${path}/{name}`, { ...where, name }, Anything, [404], options);
  const labels = add.filter((name) => there?.has(key(name)) !== true);
  // GitHub creates labels that the repository does not have.
  if (labels.length > 0) await write(`POST ${path}`, { ...where, labels }, Anything, options);
}
