/** Sending reports as clients do: by the four steps of the contract, and by the door for one report. */
import { bundleOf } from '../health/bundle.ts';
import type { Answer } from './client.ts';
import { pick } from './json.ts';
import { eventually, post, type Repo, type World } from './world.ts';

type Token = { readonly token?: string };

export function createUpload(world: World, repo: Repo, more: object = {}, call: Token = {}): Promise<Answer> {
  return post(world, 'metrics/createBundleUpload', { repo, orgUrlSlug: world.slug, ...more }, call);
}

/** What an address is below the root of the deployment, which may be reached by another name. */
export function pathOf(address: unknown): string {
  const { pathname, search } = new URL(String(address));
  return pathname + search;
}

export function put(world: World, path: string, raw: Buffer): Promise<Answer> {
  const call = { method: 'PUT', token: null, raw, contentType: 'application/octet-stream' } as const;
  return world.client.send(path, call);
}

type Bundle = Omit<Parameters<typeof bundleOf>[0], 'repo'>;

/** All four steps; answers with the upload as it is once it was read. */
export async function sendBundle(
  world: World,
  repo: Repo,
  bundle: Bundle,
  call: Token = {},
): Promise<Answer> {
  const made = await createUpload(world, repo, {}, call);
  if (made.status !== 200) return made;
  const sent = await put(
    world,
    pathOf(pick(made.json, 'url')),
    bundleOf({ repo, org: world.slug, ...bundle }),
  );
  return sent.status === 200 ? readUpload(world, repo, pick(made.json, 'id')) : sent;
}

export function sendReport(
  world: World,
  repo: Repo,
  raw: Buffer | string,
  query: Readonly<Record<string, string>> = {},
  call: Token & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const place = { repo: `${repo.host}/${repo.owner}/${repo.name}`, org_url_slug: world.slug };
  return world.client.send('/v1/flaky-tests/upload', {
    ...call,
    raw,
    contentType: 'application/xml',
    query: { ...place, sha: 'c'.repeat(40), branch: 'main', ...query },
  });
}

export function getUpload(world: World, repo: Repo, upload_id: unknown, call: Token = {}): Promise<Answer> {
  return post(world, 'flaky-tests/get-upload', { repo, org_url_slug: world.slug, upload_id }, call);
}

/** Waits until it was read. */
export function readUpload(world: World, repo: Repo, id: unknown): Promise<Answer> {
  const isRead = ({ json }: Answer) => ['ingested', 'failed'].includes(String(pick(json, 'upload', 'state')));
  return eventually(() => getUpload(world, repo, id), isRead);
}
