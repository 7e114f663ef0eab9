// Issues that Signalbox opens, edits, closes and reopens.

import type { Clock } from '#base/clock.ts';
import { repositoryUrl } from '#core/repository.ts';
import type { Cell } from '#db/cell.ts';
import {
  editSandboxIssue,
  findMarkedSandboxIssue,
  insertSandboxIssue,
} from '#db/sandbox/sandbox-issue-store.ts';
import type { Host, HostRepository } from '../host.ts';
import type { IssueAnswer } from '../own-issue.ts';
import { hidden, ownLogin } from './comment.ts';

export const createIssues =
  ({ cell, clock }: { readonly cell: Cell; readonly clock: Clock }): Host['writeIssue'] =>
  async (repository, issue) => {
    const { title, mark, isOpen } = issue;
    const known =
      issue.number ??
      (issue.maybeSince === null
        ? null
        : await findMarkedSandboxIssue(cell.db, repository.id, ownLogin, hidden(mark)));
    const text = { title, body: `${issue.body}\n\n${hidden(mark)}`, isOpen, at: clock.now() };
    if (known !== null && (await editSandboxIssue(cell.db, repository.id, known, text)))
      return written(repository, known);
    if (!isOpen) return { kind: 'cannot', reason: 'The issue was deleted.' };
    return written(
      repository,
      await insertSandboxIssue(cell.db, repository.id, { ...text, author: ownLogin }),
    );
  };

const written = (repository: HostRepository, number: number): IssueAnswer => ({
  kind: 'written',
  number,
  url: `${repositoryUrl(repository)}/issues/${number}`,
});
