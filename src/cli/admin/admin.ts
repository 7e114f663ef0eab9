// `signalbox admin`: organizations and tokens, straight on the database.

import { parseArgs } from 'node:util';
import { scopes as allScopes } from '#contract/common.ts';
import type { RepositoryId } from '#base/id.ts';
import { repositoryKey } from '#core/repository.ts';
import { findRepositoryIds } from '#db/repository-store.ts';
import { recordAudit } from '#db/audit-store.ts';
import type { Cell, Cells } from '#db/cell.ts';
import { ensureOrganization, findOrganization } from '#db/organization-store.ts';
import { issueToken, listTokens, revokeToken } from '#db/token-store.ts';
import { withTransaction } from '#db/transaction.ts';
import { atCommandLine, byCommandLine } from './auditor.ts';
import { connect, connectOptions, connectUsage } from './connect.ts';
import { disconnect, printConnections, replaceHookSecret, replaceKey } from './connection.ts';

const usage = `Usage: signalbox admin <command>

  create-organization <slug> [--name NAME] [--cell CELL]
  create-token <slug> [--name NAME] [--scopes read,submit,admin,upload] [--expires-in-days N]
    [--repositories host/owner/name,...]
  list-tokens <slug>
  revoke-token <id>
${connectUsage}
  list-connections <slug>
  disconnect <slug> --host NAME
  rotate-hook-secret <slug> --host NAME [--accept-previous-hours N]
  rotate-key

A token is shown once, when it is created: only its hash is kept.`;

const options = {
  name: { type: 'string' },
  cell: { type: 'string' },
  scopes: { type: 'string' },
  'expires-in-days': { type: 'string' },
  repositories: { type: 'string' },
  'accept-previous-hours': { type: 'string' },
  ...connectOptions,
} as const;

type Wishes = { readonly [Name in keyof typeof options]?: string | undefined };

type AdminConfig = Parameters<typeof connect>[3];

/** Returns the exit code: 0 done, 1 refused, 2 wrong usage. */
export async function admin(cells: Cells, config: AdminConfig, args: readonly string[]): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    return fail(2, `${(error as Error).message}\n\n${usage}`);
  }
  const [command, subject = ''] = parsed.positionals;
  switch (command) {
    case 'create-organization':
      return createOrganization(cells, subject, parsed.values);
    case 'create-token':
      return inOrganization(cells, subject, (cell, id) => createToken(cell, id, parsed.values));
    case 'list-tokens':
      return inOrganization(cells, subject, printTokens);
    case 'connect':
      return inOrganization(cells, subject, (cell, id) => connectHost(cell, id, parsed.values, config));
    case 'list-connections':
      return inOrganization(cells, subject, async (cell, id) =>
        say(await printConnections(cell, id, config.publicUrl)),
      );
    case 'disconnect':
      return inOrganization(cells, subject, async (cell, id) =>
        say(await disconnect(cell, id, parsed.values.host)),
      );
    case 'rotate-hook-secret':
      return inOrganization(cells, subject, async (cell, id) => {
        const { host, 'accept-previous-hours': hours } = parsed.values;
        return say(await replaceHookSecret(cell, id, host, hours));
      });
    case 'rotate-key':
      return say(await replaceKey(cells, config.secretKey));
    case 'revoke-token':
      return revoke(cells, subject);
    default:
      return fail(2, `There is no command ${command ?? ''}.\n\n${usage}`);
  }
}

function fail(code: number, message: string): number {
  console.error(message);
  return code;
}

function say(outcome: string | { readonly code: number; readonly message: string }): number {
  if (typeof outcome !== 'string') return fail(outcome.code, outcome.message);
  console.log(outcome);
  return 0;
}

async function createOrganization(
  cells: Cells,
  slug: string,
  { name, cell: cellName }: Wishes,
): Promise<number> {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug))
    return fail(2, 'Give the organization a slug of a-z, 0-9 and dashes, for example: acme');
  const cell = cellName === undefined ? cells.first : cells.find(cellName);
  if (cell === undefined)
    return fail(
      1,
      `There is no cell ${cellName}. There is ${cells.all.map((known) => known.name).join(', ')}.`,
    );
  for (const other of cells.all)
    if ((await findOrganization(other.db, slug)) !== null)
      return fail(1, `There is an organization ${slug} already, in the cell ${other.name}.`);
  await withTransaction(cell, async (tx) => {
    const { id } = await ensureOrganization(tx, slug, name ?? slug);
    await recordAudit(tx, byCommandLine(id), {
      action: 'organization.create',
      subject: slug,
      before: null,
      after: { name: name ?? slug },
    });
  });
  console.log(`Created the organization ${slug} in the cell ${cell.name}.`);
  return 0;
}

type OrganizationId = Parameters<typeof byCommandLine>[0];

async function inOrganization(
  cells: Cells,
  slug: string,
  act: (cell: Cell, id: OrganizationId) => Promise<number>,
): Promise<number> {
  for (const cell of cells.all) {
    const id = await findOrganization(cell.db, slug);
    if (id !== null) return act(cell, id);
  }
  return fail(
    1,
    `There is no organization ${slug}. Create it with: signalbox admin create-organization ${slug || '<slug>'}`,
  );
}

async function connectHost(
  cell: Cell,
  id: OrganizationId,
  wishes: Wishes,
  config: AdminConfig,
): Promise<number> {
  const done = await connect(cell, id, wishes, config);
  if (typeof done !== 'string') return fail(2, done.mistake);
  console.log(done);
  return 0;
}

async function createToken(cell: Cell, id: OrganizationId, wishes: Wishes): Promise<number> {
  const scopes = (wishes.scopes ?? allScopes.join(',')).split(',').map((scope) => scope.trim().toLowerCase());
  const unknown = scopes.filter((scope) => !(allScopes as readonly string[]).includes(scope));
  if (unknown.length > 0)
    return fail(2, `There is no scope ${unknown.join(', ')}. There is ${allScopes.join(', ')}.`);
  const days = wishes['expires-in-days'];
  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
    return fail(2, '--expires-in-days takes a number of days.');
  const expiresAt = days === undefined ? null : new Date(Date.now() + Number(days) * 86_400_000);
  const bound = await repositoriesOf(cell, id, scopes, wishes.repositories);
  if (typeof bound === 'string') return fail(2, bound);
  const { secret } = await issueToken(cell, byCommandLine(id), {
    name: wishes.name ?? 'token',
    scopes: [...new Set(scopes)],
    expiresAt,
    repositoryIds: bound,
  });
  // The token alone on standard output, so that a script can take it.
  console.error('Keep this token: it is not shown again.');
  console.log(secret);
  return 0;
}

/** What a token that may only upload is bound to; null: it may do more, and is bound to nothing. A text: what is wrong. */
async function repositoriesOf(
  cell: Cell,
  organizationId: OrganizationId,
  scopes: readonly string[],
  typed: string | undefined,
): Promise<readonly RepositoryId[] | null | string> {
  const isUploadOnly = scopes.every((scope) => scope === 'upload');
  if (!isUploadOnly)
    return typed === undefined ? null : 'Only a token whose only scope is upload takes --repositories.';
  const names = (typed ?? '').split(',').flatMap((name) => name.trim() || []);
  if (names.length === 0)
    return 'A token whose only scope is upload needs --repositories host/owner/name, with commas.';
  const keys = names.map((name) => {
    const [host = '', ...rest] = name.split('/');
    return repositoryKey({ host, owner: rest.slice(0, -1).join('/'), name: rest.at(-1) ?? '' });
  });
  const found = await findRepositoryIds(
    cell.db,
    keys.map((key) => ({ organizationId, key })),
  );
  const unknown = names[found.indexOf(null)];
  const ids = found.filter((repositoryId) => repositoryId !== null);
  return ids.length === names.length ? ids : `The organization has no repository ${unknown}.`;
}

async function printTokens(cell: Cell, id: OrganizationId): Promise<number> {
  // Oldest first, so that the newest stand at the end of a terminal.
  const list = { organizationId: id, withEnded: true, after: null, take: 100_000 };
  for (const token of (await listTokens(cell.db, list)).toReversed()) {
    const end = token.revoked_at
      ? `revoked ${token.revoked_at.toISOString()}`
      : token.expires_at
        ? `expires ${token.expires_at.toISOString()}`
        : 'active';
    console.log(
      [token.id, token.name, token.scopes.join(','), token.created_at.toISOString(), end].join('\t'),
    );
  }
  return 0;
}

async function revoke(cells: Cells, tokenId: string): Promise<number> {
  for (const cell of cells.all)
    if ((await revokeToken(cell, { id: tokenId, organizationId: null }, atCommandLine())) !== null) {
      console.log(`Revoked the token ${tokenId}.`);
      return 0;
    }
  return fail(1, `There is no active token ${tokenId}. List them with: signalbox admin list-tokens <slug>`);
}
