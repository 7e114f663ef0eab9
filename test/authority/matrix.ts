// The authority matrix: every way to ask for a merge, by every kind of account, on a host. Nothing of it is written by hand:
// the cells are the product of the two lists, and what must happen follows from them. Only those with write access or more
// submit, only by what is a command, and only administrators force.
//
// On the host a person has a role there. By the API, the dashboard and the tools for agents it is the token that may or may
// not: `none` has no valid token, `read` one that reads, `triage` and `bot` one for uploads (as CI has), `write` one that
// submits, `admin` one that also administers, and the token of `deleted` was revoked. There is no force in these three.

import { Client as AgentClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QueueId } from '#base/id.ts';
import { writeTools } from '#tool/mcp/write-tools.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { Scope } from '#contract/common.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import { createToken } from '#db/account/organization-store.ts';
import { listEntries, listQueues } from '#db/queue/queue-view.ts';
import type { Host, HostRepository } from '#host/host.ts';
import { tasks } from '#job/worker/task.ts';
import { signIn } from '../app/browser.ts';
import { clientOf, openWorld } from '../support/harness.ts';

const roles = ['none', 'read', 'triage', 'write', 'admin', 'bot', 'deleted'] as const;
type Role = (typeof roles)[number];

/** The login of each, where the host lets a test choose them. */
export const logins: Readonly<Record<Role, string>> = {
  none: 'nora',
  read: 'rita',
  triage: 'tess',
  write: 'wanda',
  admin: 'ada',
  bot: 'renovate[bot]',
  deleted: 'dora',
};

const hostInputs = [
  'comment',
  'comment --force',
  'edited comment',
  'review text',
  'label by webhook',
  'label by poll',
  'label at creation',
  'label after a restart',
] as const;
type HostInput = (typeof hostInputs)[number];
const tokenInputs = ['API', 'dashboard', 'MCP'] as const;
type Input = HostInput | (typeof tokenInputs)[number];

/** Inputs that are commands at all. */
const commands: ReadonlySet<Input> = new Set<Input>([
  'comment',
  'comment --force',
  'label by webhook',
  'label by poll',
  'label at creation',
  'label after a restart',
  ...tokenInputs,
]);

type Outcome = 'nothing' | 'submitted' | 'forced';

/** What must happen. */
function expected(input: Input, role: Role): Outcome {
  if (!commands.has(input)) return 'nothing';
  if (input === 'comment --force') return role === 'admin' ? 'forced' : 'nothing';
  return role === 'write' || role === 'admin' ? 'submitted' : 'nothing';
}

/** A repository of a host, and what people do there. What the host itself refuses is no error. */
export type Stage = {
  /** A new adapter, as after a restart; null: the sandbox, which keeps nothing in memory. */
  readonly newHost: () => Host | null;
  readonly repository: HostRepository;
  /** Gives everybody an account and a role; the login of each. */
  readonly people: Readonly<Record<Role, string>>;
  /** A pull request of the author; or of a person who puts the label on as it is opened. */
  readonly propose: (labelledBy: string | null) => Promise<number | null>;
  readonly comment: (by: string, number: number, text: string) => Promise<string | null>;
  readonly editComment: (number: number, id: string, text: string) => Promise<void>;
  /** Null: the host has no texts of reviews. */
  readonly review: ((by: string, number: number, text: string) => Promise<unknown>) | null;
  /** `isLost`: no webhook says so. */
  readonly label: (by: string, number: number, isLost: boolean) => Promise<unknown>;
  readonly deleteAccount: (login: string) => Promise<unknown>;
  /** All webhooks so far, as an adapter reads them; none where they were recorded as they came. */
  readonly webhooks: (host: Host) => Promise<readonly HostEvent[]>;
  readonly close: () => Promise<void>;
};

export const label = 'signalbox-submit';

type Cell = { readonly input: Input; readonly role: Role; readonly number: number | null };

const scopesOf: Readonly<Record<Role, readonly Scope[] | null>> = {
  none: null,
  read: ['read'],
  triage: ['upload'],
  write: ['read', 'submit'],
  admin: ['read', 'submit', 'admin'],
  bot: ['upload'],
  deleted: ['read', 'submit', 'admin'],
};

export function describeMatrix(name: string, openStage: (world: World) => Promise<Stage>): void {
  describe(`who may decide on ${name}`, () => {
    let stage: Stage | undefined;
    let world: World | undefined;
    let outcomes: ReadonlyMap<string, Outcome | null> = new Map();

    beforeAll(async () => {
      let host: Host | null = null;
      world = await openWorld({
        wrapHosts: (others) => (cell, hostName) =>
          host !== null && hostName === stage?.repository.host ? host : others(cell, hostName),
      });
      stage = await openStage(world);
      host = stage.newHost();
      const queueId = await openQueue(world, stage);
      const cells = [...(await act(stage)), ...(await actByToken(world, stage))];
      // A restart: nothing that the adapter kept in memory is left.
      host = stage.newHost();
      await deliver(world, stage, host, cells);
      outcomes = await outcomesOf(world, queueId, cells);
    }, 180_000);
    afterAll(async () => {
      await world?.close();
      await stage?.close();
      // oxlint-disable-next-line no-console -- the table is for people to read
      console.log(tableOf(name, outcomes));
    });

    for (const input of [...hostInputs, ...tokenInputs])
      it.each(roles)(`${input} by %s does only what the role allows`, (role) => {
        const outcome = outcomes.get(`${input} ${role}`);
        // Null: the host has no such thing, or refused it itself.
        expect(outcome === null ? expected(input, role) : outcome).toBe(expected(input, role));
      });

    it('has an outcome in every cell of those who may', () => {
      for (const input of commands)
        for (const role of ['write', 'admin'] as const)
          expect([input, role, outcomes.get(`${input} ${role}`)]).not.toContain(null);
    });
  });
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The rows that a connected repository has. */
export async function connectRepository(
  { cell: { pool } }: World,
  repository: HostRepository,
): Promise<void> {
  const { id, organizationId, host, owner, name } = repository;
  await pool.query(`insert into organization (id, slug, name) values ($1, 'matrix', 'Matrix')`, [
    organizationId,
  ]);
  await pool.query(
    `insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key)
     values ($1, $2, $3, $4, $5, lower($3), lower($4), lower($5))`,
    [id, organizationId, host, owner, name],
  );
}

async function openQueue(world: World, { repository }: Stage): Promise<QueueId> {
  const { id, host, owner, name } = repository;
  const team = await world.client('matrix');
  await team.call('createQueue', { repo: { host, owner, name }, targetBranch: 'main' });
  const [queue] = await listQueues(world.cell.reader, id);
  return queue!.id;
}

/** Every cell of the host: a pull request, and what its person does to it. */
async function act(stage: Stage): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  const edits: (() => Promise<void>)[] = [];
  for (const input of hostInputs)
    // The sandbox loses webhooks for a while, for all of them.
    for (const some of input === 'label by poll' ? roles.map((role) => [role]) : [roles])
      await Promise.all(
        some.map(async (role) => {
          const by = stage.people[role];
          const number = await stage.propose(input === 'label at creation' ? by : null);
          const isDone = number !== null && (await perform(stage, input, by, number, edits));
          cells.push({ input, role, number: isDone ? number : null });
        }),
      );
  // Some hosts count in seconds.
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  for (const edit of edits) await edit();
  await stage.deleteAccount(stage.people.deleted);
  return cells;
}

/** False: the host has no such thing, or refused it itself. */
async function perform(
  stage: Stage,
  input: HostInput,
  by: string,
  number: number,
  edits: (() => Promise<void>)[],
): Promise<boolean> {
  switch (input) {
    case 'comment':
      return (await stage.comment(by, number, '/signalbox merge')) !== null;
    case 'comment --force':
      return (await stage.comment(by, number, '/signalbox merge --force')) !== null;
    case 'edited comment': {
      const id = await stage.comment(by, number, 'Looks good to me.');
      if (id === null) return false;
      edits.push(() => stage.editComment(number, id, '/signalbox merge'));
      return true;
    }
    case 'review text':
      if (stage.review === null) return false;
      return (await stage.review(by, number, '/signalbox merge')) !== null;
    case 'label at creation':
      return true;
    case 'label by webhook':
    case 'label by poll':
    case 'label after a restart':
      return (await stage.label(by, number, input === 'label by poll')) !== null;
  }
}

/** Webhooks for all but those of the poll, which come by the poll alone; then the jobs that read them. */
async function deliver(
  world: World,
  stage: Stage,
  adapter: Host | null,
  cells: readonly Cell[],
): Promise<void> {
  const polled = new Set(cells.flatMap(({ input, number }) => (input === 'label by poll' ? [number] : [])));
  const isOf = (event: HostEvent, isPolled: boolean) =>
    'number' in event && polled.has(event.number) === isPolled;
  const { organizationId } = stage.repository;
  const host = adapter ?? world.deps.hostFor(world.cell.name, stage.repository.host)!;
  const told = (await stage.webhooks(host)).filter((event) => isOf(event, false));
  await recordHostEvents(world.cell, organizationId, told);
  const read = await host.readCommentsAndLabels(stage.repository, new Date(Date.now() - 600_000), label);
  await recordHostEvents(
    world.cell,
    organizationId,
    read.filter((event) => event.kind === 'comment-written' || isOf(event, true)),
  );
  const others = Object.keys(tasks).filter((task) => task !== 'handle-comment' && task !== 'handle-label');
  for (let round = 0; round < 3; round += 1) {
    await world.runJobs(others);
    await world.makeJobsDue();
  }
}

/** By the API, the dashboard and the tools for agents. */
async function actByToken(world: World, stage: Stage): Promise<readonly Cell[]> {
  const { host, owner, name, organizationId } = stage.repository;
  const queue = { repo: { host, owner, name }, targetBranch: 'main' };
  const cells: Cell[] = [];
  for (const input of tokenInputs)
    for (const role of roles) {
      const number = (await stage.propose(null))!;
      const scopes = scopesOf[role];
      const terms = { name: `${input} ${role}`, scopes: scopes ?? [], expiresAt: null };
      const token = scopes === null ? 'sb_none' : await createToken(world.cell, organizationId, terms);
      if (role === 'deleted')
        await world.cell.pool.query('update api_token set revoked_at = now() where name = $1', [terms.name]);
      await submitBy(input, world, token, { ...queue, pr: { number } }).catch(() => undefined);
      cells.push({ input, role, number });
    }
  return cells;
}

async function submitBy(
  input: (typeof tokenInputs)[number],
  { server }: World,
  token: string,
  { pr, ...queue }: { readonly repo: object; readonly targetBranch: string; readonly pr: { number: number } },
): Promise<unknown> {
  if (input === 'dashboard') return (await signIn(server, token)).call('submitPullRequest', { ...queue, pr });
  const api = clientOf(server, token);
  if (input === 'API') return api.call('submitPullRequest', { ...queue, pr });
  const agent = new McpServer({ name: 'signalbox', version: '0' });
  const context = { call: api.call, queue: () => Promise.resolve(queue) };
  for (const tool of writeTools) tool.addTo(agent, context as never);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new AgentClient({ name: 'test', version: '1' });
  await Promise.all([agent.connect(ours), client.connect(theirs)]);
  return client.callTool({ name: 'submit_pull_request', arguments: { number: pr.number } });
}

async function outcomesOf(
  world: World,
  queueId: QueueId,
  cells: readonly Cell[],
): Promise<ReadonlyMap<string, Outcome | null>> {
  const outcomes = new Map<string, Outcome | null>();
  for (const { input, role, number } of cells) {
    const [status] = number === null ? [] : await listEntries(world.cell.reader, queueId, [number]);
    const outcome = status === undefined ? 'nothing' : status.entry.forced ? 'forced' : 'submitted';
    outcomes.set(`${input} ${role}`, number === null ? null : outcome);
  }
  return outcomes;
}

function tableOf(name: string, outcomes: ReadonlyMap<string, Outcome | null>): string {
  const shown = { nothing: '-', submitted: 'submits', forced: 'forces' } as const;
  const rows = [...hostInputs, ...tokenInputs].map((input) => {
    const cells = roles.map((role) => {
      const outcome = outcomes.get(`${input} ${role}`);
      return (outcome === null || outcome === undefined ? 'n/a' : shown[outcome]).padEnd(8);
    });
    return `${input.padEnd(22)} ${cells.join(' ')}`;
  });
  return [`${name.padEnd(22)} ${roles.map((role) => role.padEnd(8)).join(' ')}`, ...rows].join('\n');
}
