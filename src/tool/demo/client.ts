// The API client of the demo's team and its CI: the client of the command line, as any script would use it.

import { type Api, createApi } from '#cli/client/api.ts';
import { createClient } from '#cli/ci/client.ts';
import type { DemoRepository } from './repository.ts';

type ReportSource = {
  readonly sha: string;
  readonly branch: string;
  readonly pr?: number;
  readonly runId: string;
  readonly attempt?: number;
};

export type DemoClient = {
  readonly url: string;
  readonly token: string;
  readonly organization: string;
  readonly call: Api['call'];
  readonly uploadReport: (repository: DemoRepository, source: ReportSource, report: string) => Promise<void>;
};

export function createDemoClient(url: string, token: string, organization: string): DemoClient {
  const uploads = createClient({ url, token });
  return {
    url,
    token,
    organization,
    call: createApi(url, token).call,
    uploadReport: async ({ repo }, { sha, branch, pr, runId, attempt }, report) => {
      const query = {
        repo: `${repo.host}/${repo.owner}/${repo.name}`,
        org_url_slug: organization,
        sha,
        branch,
        job: 'test',
        run_id: runId,
        attempt: String(attempt ?? 1),
        ...(pr !== undefined && { pr: String(pr) }),
      };
      await uploads.uploadReport(query, Buffer.from(report));
    },
  };
}
