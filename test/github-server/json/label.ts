import type { Label, Repository, Site } from '../model.ts';
import { nodeId } from './account.ts';
import { repositoryUrl } from './repository.ts';

export const labelJson = (site: Site, repository: Repository, { id, name, color, description }: Label) => ({
  id,
  node_id: nodeId('Label', id),
  url: `${repositoryUrl(site, repository)}/labels/${encodeURIComponent(name)}`,
  name,
  color,
  default: false,
  description,
});
