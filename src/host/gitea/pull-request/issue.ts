// Issues that Signalbox opens, edits, closes and reopens.

import type { Host, HostRepository } from '../../host.ts';
import type { IssueAnswer, OwnIssue } from '../../own-issue.ts';
import { type Client, repositoryPath } from '../client/client.ts';
import { GiteaIssue } from '../schema.ts';
import { hidden } from './comment.ts';

/** Clocks differ. */
const skewMs = 600_000;

export const createIssues =
  (client: Client): Host['writeIssue'] =>
  async (repository, issue) => {
    const { organizationId } = repository;
    const path = `${repositoryPath(repository)}/issues`;
    const text = { title: issue.title, body: `${issue.body}\n\n${hidden(issue.mark)}` };
    const known =
      issue.number ?? (issue.maybeSince === null ? null : await findIssue(client, repository, issue));
    if (known !== null) {
      const body = { ...text, state: issue.isOpen ? 'open' : 'closed' };
      const edited = await client.read(organizationId, GiteaIssue, {
        method: 'PATCH',
        path: `${path}/${known}`,
        body,
      });
      if (edited !== null) return written(edited);
    }
    if (!issue.isOpen) return { kind: 'cannot', reason: 'The issue was deleted.' };
    const opened = await client.read(organizationId, GiteaIssue, { method: 'POST', path, body: text });
    return opened === null
      ? { kind: 'cannot', reason: 'The repository has issues turned off, or is not visible to Signalbox.' }
      : written(opened);
  };

const written = ({ number, html_url: url }: GiteaIssue): IssueAnswer => ({ kind: 'written', number, url });

async function findIssue(
  client: Client,
  repository: HostRepository,
  { mark, maybeSince }: OwnIssue,
): Promise<number | null> {
  const { organizationId } = repository;
  const own = await client.ownLogin(organizationId);
  const issues = await client.list(organizationId, GiteaIssue, {
    path: `${repositoryPath(repository)}/issues`,
    query: {
      state: 'all',
      type: 'issues',
      since: new Date((maybeSince?.getTime() ?? 0) - skewMs).toISOString(),
      ...(own === null ? {} : { created_by: own }),
    },
  });
  const found = issues.find(
    ({ user, body }) => (own === null || user === own) && body.includes(hidden(mark)),
  );
  return found?.number ?? null;
}
