// Stops the workflow runs of a test branch that is no longer needed, where Gitea has a call for it. Gitea up to 1.27 can
// only list runs (routers/api/v1/api.go, group /actions/runs); its development branch has `/cancel` too. A version without
// it answers 404, as Forgejo does.

import type { Host, RerunAnswer } from '../../host.ts';
import { type Client, repositoryPath } from '../client/client.ts';
import { WorkflowRuns } from '../schema.ts';

/**
 * A commit status of Gitea does not name its workflow run, so the planner does not ask for this: it repeats the whole run. Gitea has
 * calls to run jobs again since 1.26 (go-gitea/gitea#36768).
 */
export const cannotRerun: RerunAnswer = {
  kind: 'cannot',
  reason: 'Gitea reports checks as commit statuses, which do not name the workflow run that could run again.',
};

export function createStopRuns(client: Client): Host['stopRuns'] {
  return async (repository, { sha }) => {
    const path = `${repositoryPath(repository)}/actions/runs`;
    const { organizationId } = repository;
    const listed = await client.call(organizationId, { path, query: { head_sha: sha }, expect: [403] });
    if (listed.status >= 300)
      return {
        kind: 'cannot',
        reason: 'This Gitea does not list workflow runs, or not for the account of Signalbox.',
      };
    let count = 0;
    for (const { id, status } of client.parse(WorkflowRuns, listed.body).workflow_runs) {
      if (status === 'completed') continue;
      // 400 and 409: it has ended meanwhile.
      const stop = { method: 'POST', path: `${path}/${id}/cancel`, expect: [400, 403, 405, 409] } as const;
      const { status: answer } = await client.call(organizationId, stop);
      if (answer === 403)
        return { kind: 'cannot', reason: 'The account of Signalbox may not cancel workflow runs.' };
      if (answer === 404 || answer === 405)
        return { kind: 'cannot', reason: 'This version of Gitea has no API to cancel a workflow run.' };
      if (answer < 300) count += 1;
    }
    return { kind: 'stopped', count };
  };
}
