// The workflow files of a branch, by the contents API (Gitea routers/api/v1/repo/file.go), bounded in number and size.
// Gitea and Forgejo read the first of these folders that is there (Gitea modules/actions/workflows.go, and Forgejo's).

import type { HostRepository } from '../../host.ts';
import type { WorkflowFile } from '../../workflow.ts';
import { type Client, repositoryPath } from '../client/client.ts';
import { ContentFile, ContentList } from '../schema.ts';

const folders = ['.forgejo/workflows', '.gitea/workflows', '.github/workflows'];
const filesMax = 50;
const bytesMax = 262_144;

export async function readWorkflows(
  client: Client,
  repository: HostRepository,
  ref: string,
): Promise<readonly WorkflowFile[]> {
  const { organizationId } = repository;
  const contents = `${repositoryPath(repository)}/contents`;
  const query = { ref };
  const found: WorkflowFile[] = [];
  for (const folder of folders) {
    const listed = await client.read(organizationId, ContentList, { path: `${contents}/${folder}`, query });
    const files = (listed ?? [])
      .filter(({ type, name, size }) => type === 'file' && /\.ya?ml$/.test(name) && size <= bytesMax)
      .slice(0, filesMax);
    for (const { path: file } of files) {
      const path = `${contents}/${file.split('/').map(encodeURIComponent).join('/')}`;
      const answer = await client.read(organizationId, ContentFile, { path, query });
      if (answer !== null)
        found.push({
          path: file,
          text: Buffer.from(answer.content, 'base64').toString('utf8'),
          sha: answer.sha,
        });
    }
    if (found.length > 0) break;
  }
  return found;
}
