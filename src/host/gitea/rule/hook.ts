// Webhooks of a repository and of its organization: what they report, and the one to Signalbox.

import type { HostEvent } from '#core/queue/host-event.ts';
import type { Host, HostRepository, Inspection } from '../../host.ts';
import { cannot } from '../../wanted-webhook.ts';
import { type Client, pageSize, repositoryPath } from '../client/client.ts';
import { Hook } from '../schema.ts';
import { matchesPattern } from './glob.ts';

/** The events that each kind of event needs; a push to a pull request is a separate event. */
const needed: Readonly<Record<HostEvent['kind'], readonly string[]>> = {
  'pull-request-changed': ['pull_request', 'pull_request_sync'],
  'check-changed': ['status'],
  'branch-moved': ['push'],
  'comment-written': ['pull_request_comment'],
  'label-changed': ['pull_request_label'],
};
const kinds = Object.keys(needed) as HostEvent['kind'][];

/**
 * What a new webhook reports. Gitea takes `pull_request` for all events of pull requests (Gitea
 * routers/api/v1/utils/hook.go, pullHook), and shows each of them afterwards.
 */
const wantedEvents = ['push', 'create', 'delete', 'status', 'issue_comment', 'pull_request'] as const;

/** Null: Signalbox may not read them. */
async function readHooksAt(
  client: Client,
  { organizationId }: HostRepository,
  path: string,
): Promise<readonly Hook[] | null> {
  const answer = await client.call(organizationId, { path, query: { limit: pageSize }, expect: [403] });
  if (answer.status !== 200) return null;
  return answer.hasNext
    ? client.list(organizationId, Hook, { path })
    : client.parse(Hook.array(), answer.body);
}

const ownPath = (repository: HostRepository): string => `${repositoryPath(repository)}/hooks`;
const sharedPath = ({ owner }: HostRepository): string => `/orgs/${encodeURIComponent(owner)}/hooks`;

/**
 * The webhooks of the repository and of its organization that Signalbox may read; null: it may read neither.
 */
export async function readHooks(
  client: Client,
  repository: HostRepository,
  branch: string,
): Promise<Inspection['webhooks']> {
  const own = await readHooksAt(client, repository, ownPath(repository));
  const shared = await readHooksAt(client, repository, sharedPath(repository));
  if (own === null && shared === null) return null;
  return [...(own ?? []), ...(shared ?? [])].map((hook) => ({
    url: hook.config.url,
    isActive: hook.active,
    events: listCoveredEventKinds(hook, branch),
    // Gitea shows it only in its web interface.
    lastStatus: null,
  }));
}

const reports = ({ events }: Pick<Hook, 'events'>, kind: HostEvent['kind']): boolean =>
  needed[kind].every((event) => events.includes(event));

export function listCoveredEventKinds(
  hook: Pick<Hook, 'events' | 'branch_filter'>,
  branch: string,
): readonly HostEvent['kind'][] {
  const filter = hook.branch_filter;
  // The filter matches the short or the full name.
  const coversBranch =
    filter === '' || [branch, `refs/heads/${branch}`].some((name) => matchesPattern(filter, name));
  return kinds.filter((kind) => reports(hook, kind) && (kind !== 'branch-moved' || coversBranch));
}

const isComplete = (hook: Hook): boolean => hook.active && kinds.every((kind) => reports(hook, kind));

/**
 * Adds the webhook to the repository, or completes it. A webhook of the organization will do as well, if Signalbox may read it. The
 * secret of a webhook cannot be changed (Gitea routers/api/v1/utils/hook.go, editHook): another takes its place.
 */
export const createWebhookSetter =
  (client: Client): Host['ensureWebhook'] =>
  async (repository, { url, secret, isSecretNew }) => {
    const path = ownPath(repository);
    const findAt = async (at: string) =>
      ((await readHooksAt(client, repository, at)) ?? []).filter((hook) => hook.config.url === url);
    const write = (method: 'POST' | 'PATCH' | 'DELETE', at: string, body?: object) =>
      client.call(repository.organizationId, {
        method,
        path: at,
        ...(body === undefined ? {} : { body }),
        expect: [403, 422],
      });
    const own = await findAt(path);
    if (!isSecretNew && own.some(isComplete)) return { kind: 'unchanged' };
    const shared = own.length > 0 ? [] : await findAt(sharedPath(repository));
    if (shared.length > 0)
      return shared.some(isComplete) && !isSecretNew
        ? { kind: 'unchanged' }
        : cannot('The webhook belongs to the organization. Change it there.');
    const [known] = own;
    // Before the other is added: a job that fails in between would add one more each time.
    if (isSecretNew) for (const { id } of own) await write('DELETE', `${path}/${id}`);
    const webhook = {
      active: true,
      events: wantedEvents,
      config: { url, content_type: 'json', secret },
      branch_filter: known?.branch_filter ?? '',
      authorization_header: known?.authorization_header ?? '',
    };
    const { status, message } =
      known === undefined || isSecretNew
        ? await write('POST', path, { type: 'gitea', ...webhook })
        : await write('PATCH', `${path}/${known.id}`, webhook);
    if (status < 300) return { kind: 'set' };
    return cannot(
      `Gitea answered ${status}${message && ` (${message})`}. An administrator of the repository may set its webhooks: give the account of Signalbox that access, and its token the scope \`write:repository\`.`,
    );
  };
