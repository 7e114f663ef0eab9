// Comments and labels on pull requests: Signalbox's status comment, labels, and comments of people.
//
// A comment is Signalbox's own if our account wrote it and it contains our mark: anyone can copy a mark.
//
// Labels are added by name and removed by id: the present ones are read first.

import type { Clock } from '#base/clock.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import { type Host, HostError, type HostRepository } from '../../host.ts';
import { type Client, repositoryPath } from '../client/client.ts';
import { GiteaComment, Label, GiteaPullRequest } from '../schema.ts';
import { boundedText } from './text.ts';

/** Invisible in Gitea. */
export const hidden = (mark: string): string => `<!-- ${mark} -->`;

export const createComments =
  (client: Client): Host['writeComment'] =>
  async (repository, number, { id, mayExist, mark, body }) => {
    const { organizationId } = repository;
    const path = `${repositoryPath(repository)}/issues`;
    const text = { body: `${body}\n\n${hidden(mark)}` };
    const trouble = () =>
      client.troubleOf(repository, {
        path: `/pulls/${number}`,
        gone: `There is no pull request #${number}.`,
      });

    const findOwn = async (): Promise<string | null> => {
      const own = await client.ownLogin(organizationId);
      const answer = await client.call(organizationId, { path: `${path}/${number}/comments`, expect: [500] });
      if (answer.status === 404 || answer.status === 500) throw await trouble();
      const found = client
        .parse(GiteaComment.array(), answer.body)
        .find(({ user, body: said }) => (own === null || user === own) && said.includes(hidden(mark)));
      return found === undefined ? null : String(found.id);
    };

    const known = id ?? (mayExist ? await findOwn() : null);
    if (known !== null) {
      const request = { method: 'PATCH', path: `${path}/comments/${known}`, body: text } as const;
      if ((await client.call(organizationId, request)).status === 200) return known;
    }
    const answer = await client.call(organizationId, {
      method: 'POST',
      path: `${path}/${number}/comments`,
      body: text,
      expect: [500],
    });
    if (answer.status === 404 || answer.status === 500) throw await trouble();
    return String(client.parse(GiteaComment, answer.body).id);
  };

/** The color of a label that Signalbox creates. */
const color = '#5319e7';
/** Labels are rarely created or deleted; a missing one is checked again sooner. */
const idKeptMs = 300_000;
const absenceKeptMs = 30_000;

export type Labels = {
  readonly changeLabels: Host['changeLabels'];
  /** Null: the label does not exist yet. */
  readonly idOf: (repository: HostRepository, label: string) => Promise<number | null>;
};

export function createLabels(client: Client, clock: Clock): Labels {
  const ids = createTtlCache<number | null>({
    max: 10_000,
    ttlMs: (id) => (id === null ? absenceKeptMs : idKeptMs),
    now: () => clock.now().getTime(),
  });
  const labelKey = ({ id }: HostRepository, label: string) => `${id} ${label}`;
  const readOn = (repository: HostRepository, number: number): Promise<Label[] | null> =>
    client.read(repository.organizationId, Label.array(), {
      path: `${repositoryPath(repository)}/issues/${number}/labels`,
    });

  const add = async (repository: HostRepository, number: number, labels: readonly string[]) => {
    const { organizationId } = repository;
    const path = repositoryPath(repository);
    const put = async () => {
      const request = { method: 'POST', path: `${path}/issues/${number}/labels`, body: { labels } } as const;
      const now = await client.read(organizationId, Label.array(), request);
      if (now === null) throw new HostError('forbidden', `There is no pull request #${number}.`);
      return labels.filter((label) => !now.some(({ name }) => name === label));
    };
    // Gitea silently ignores labels that do not exist.
    const unknown = await put();
    if (unknown.length === 0) return;
    for (const name of unknown)
      await client.call(organizationId, { method: 'POST', path: `${path}/labels`, body: { name, color } });
    await put();
  };

  const remove = async (repository: HostRepository, number: number, labels: readonly string[]) => {
    // A label of the repository and one of its organization may have the same name.
    const on = (await readOn(repository, number)) ?? [];
    for (const { id } of on.filter(({ name }) => labels.includes(name))) {
      const path = `${repositoryPath(repository)}/issues/${number}/labels/${id}`;
      // 422: the label was deleted meanwhile.
      await client.call(repository.organizationId, { method: 'DELETE', path, expect: [422] });
    }
  };

  return {
    idOf: (repository, label) =>
      ids.load(labelKey(repository, label), async () => {
        const { organizationId, owner } = repository;
        const named = ({ name }: Label) => name === label;
        const own = await client.list(organizationId, Label, {
          path: `${repositoryPath(repository)}/labels`,
        });
        const known = own.find(named);
        if (known !== undefined) return known.id;
        // Labels that an organization shares with all of its repositories; a person has none.
        const path = `/orgs/${encodeURIComponent(owner)}/labels`;
        const shared = await client.list(organizationId, Label, { path, expect: [403] });
        return shared.find(named)?.id ?? null;
      }),
    changeLabels: async (repository, number, { add: on, remove: off }) => {
      if (on.length > 0) await add(repository, number, on);
      if (off.length > 0) await remove(repository, number, off);
    },
  };
}

export const createCommentsAndLabelsReader =
  (client: Client, labels: Labels): Host['readCommentsAndLabels'] =>
  async (hostRepository, since, label) => {
    const { organizationId, host, owner, name } = hostRepository;
    const repository = { host, owner, name };
    const path = repositoryPath(repository);
    const comments = await client.list(organizationId, GiteaComment, {
      path: `${path}/issues/comments`,
      query: { since: since.toISOString() },
    });
    const id = await labels.idOf(hostRepository, label);
    const labelled =
      id === null
        ? []
        : await client.list(organizationId, GiteaPullRequest, {
            path: `${path}/pulls`,
            query: { state: 'open', labels: id },
          });
    return [
      ...comments.flatMap((comment): HostEvent[] => {
        const number = Number(/\/(\d+)$/.exec(comment.pull_request_url)?.[1] ?? 0);
        if (number === 0) return [];
        const { id, user: author, body, created_at: writtenAt, updated_at } = comment;
        // The list contains comments that were updated since; an edited text may not be its author's.
        if (writtenAt !== updated_at) return [];
        const written = { number, commentId: String(id), author, text: boundedText(body), writtenAt };
        return [{ kind: 'comment-written', repository, ...written }];
      }),
      ...labelled
        .filter((pullRequest) => pullRequest.labels.some((on) => on.name === label))
        .map(({ number }): HostEvent => ({
          kind: 'label-changed',
          repository,
          number,
          label,
          labels: [label],
        })),
    ];
  };
