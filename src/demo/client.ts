// The service as the demo's team and its CI call it.

import { endpoints, type Operation, type ResponseOf } from '#contract/endpoint.ts';
import type { DemoRepository } from './repository.ts';

export type ReportSource = {
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
  readonly call: <Name extends Operation>(name: Name, body: object) => Promise<ResponseOf<Name>>;
  readonly uploadReport: (repository: DemoRepository, source: ReportSource, report: string) => Promise<void>;
};

/** The service refused; its code is one of the registry. */
export class RefusedError extends Error {
  readonly code: string;
  constructor(operation: string, code: string, message: string) {
    super(`${operation}: ${message}`);
    this.code = code;
  }
}

type ClientOptions = Pick<DemoClient, 'url' | 'token' | 'organization'> & { readonly signal: AbortSignal };

export function createDemoClient({ url, token, organization, signal }: ClientOptions): DemoClient {
  const send = async (what: string, path: string, type: string, body: string): Promise<string> => {
    const headers = { 'x-api-token': token, 'content-type': type };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body, signal });
    const text = await answer.text();
    if (answer.ok) return text;
    const { code, message } = (JSON.parse(text) as { error: { code: string; message: string } }).error;
    throw new RefusedError(what, code, message);
  };
  return {
    url,
    token,
    organization,
    call: async (name, body) =>
      JSON.parse(await send(name, endpoints[name].path, 'application/json', JSON.stringify(body))) as never,
    uploadReport: async ({ repo }, { sha, branch, pr, runId, attempt }, report) => {
      const query = new URLSearchParams({
        repo: `${repo.host}/${repo.owner}/${repo.name}`,
        org_url_slug: organization,
        sha,
        branch,
        job: 'test',
        run_id: runId,
        attempt: String(attempt ?? 1),
        ...(pr !== undefined && { pr: String(pr) }),
      });
      await send(
        'uploadReport',
        `${endpoints.uploadReport.path}?${query.toString()}`,
        'application/xml',
        report,
      );
    },
  };
}
