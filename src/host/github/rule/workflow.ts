// The workflow files of a branch, by the contents API (GitHub REST docs, "Get repository content"), bounded in number and
// size.

import type { HostRepository } from '../../host.ts';
import type { WorkflowFile } from '../../workflow.ts';
import type { GithubClient } from '../client/client.ts';
import { ContentFile, ContentList } from '../schema.ts';

const filesMax = 50;
const bytesMax = 262_144;

export async function readWorkflows(
  { read }: GithubClient,
  { owner, name: repo }: HostRepository,
  ref: string,
): Promise<readonly WorkflowFile[] | null> {
  const path = '/repos/{owner}/{repo}/contents/{path}';
  const folder = '.github/workflows';
  const absent = [403, 404];
  const listed = await read(path, { owner, repo, path: folder, ref }, ContentList, { absent });
  const files = (listed ?? [])
    .filter(({ type, name, size }) => type === 'file' && /\.ya?ml$/.test(name) && size <= bytesMax)
    .slice(0, filesMax);
  const found: WorkflowFile[] = [];
  for (const { path: file } of files) {
    const answer = await read(path, { owner, repo, path: file, ref }, ContentFile, { absent });
    if (answer !== null)
      found.push({
        path: file,
        text: Buffer.from(answer.content, 'base64').toString('utf8'),
        sha: answer.sha,
      });
  }
  return found;
}
