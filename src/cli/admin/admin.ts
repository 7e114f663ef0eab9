// `signalbox admin`: creates and changes organizations, tokens and connections, directly in the database.

import { parseArgs } from 'node:util';
import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { createOrganization as createOrganizationIn } from '#command/organization.ts';
import { issueToken, revokeToken } from '#command/token.ts';
import { scopes as allScopes } from '#contract/common.ts';
import { repositoryKey } from '#core/repository.ts';
import { findRepositoryIds } from '#db/account/repository-store.ts';
import type { Cell, Cells } from '#db/cell.ts';
import { findOrganization } from '#db/account/organization-store.ts';
import { listTokens } from '#db/account/token-store.ts';
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

const ownOptions = {
  name: { type: 'string' },
  cell: { type: 'string' },
  scopes: { type: 'string' },
  'expires-in-days': { type: 'string' },
  repositories: { type: 'string' },
  'accept-previous-hours': { type: 'string' },
} as const;

const options = { ...ownOptions, ...connectOptions };

type AdminOptionValues = { readonly [Name in keyof typeof ownOptions]?: string | undefined } & Parameters<
  typeof connect
>[2];

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
      return fail(2, `${command ?? ''} is not a command of signalbox admin.\n\n${usage}`);
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
  { name, cell: cellName }: AdminOptionValues,
): Promise<number> {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug))
    return fail(
      2,
      `${slug || 'An empty slug'} is not a valid slug. Use a-z, 0-9 and dashes, for example: acme`,
    );
  const cell = cellName === undefined ? cells.first : cells.find(cellName);
  if (cell === undefined)
    return fail(1, `There is no cell ${cellName}. Use ${cells.all.map((known) => known.name).join(' or ')}.`);
  for (const other of cells.all)
    if ((await findOrganization(other.db, slug)) !== null)
      return fail(
        1,
        `The organization ${slug} exists already, in the cell ${other.name}. Choose another slug.`,
      );
  await createOrganizationIn(cell, { slug, name: name ?? slug }, atCommandLine());
  console.log(`Created the organization ${slug} in the cell ${cell.name}.`);
  return 0;
}

type AdminOrganizationId = Parameters<typeof byCommandLine>[0];

async function inOrganization(
  cells: Cells,
  slug: string,
  act: (cell: Cell, id: AdminOrganizationId) => Promise<number>,
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
  id: AdminOrganizationId,
  optionValues: AdminOptionValues,
  config: AdminConfig,
): Promise<number> {
  const done = await connect(cell, id, optionValues, config);
  if (typeof done !== 'string') return fail(2, done.mistake);
  console.log(done);
  return 0;
}

async function createToken(
  cell: Cell,
  id: AdminOrganizationId,
  optionValues: AdminOptionValues,
): Promise<number> {
  const scopes = (optionValues.scopes ?? allScopes.join(','))
    .split(',')
    .map((scope) => scope.trim().toLowerCase());
  const unknown = scopes.filter((scope) => !(allScopes as readonly string[]).includes(scope));
  if (unknown.length > 0)
    return fail(2, `${unknown.join(', ')} is not a valid scope. Use ${allScopes.join(', ')}.`);
  const days = optionValues['expires-in-days'];
  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
    return fail(2, `${days} is not a valid --expires-in-days. Use a number of days from 1 to 99999.`);
  const by = byCommandLine(id);
  const expiresAt = days === undefined ? null : new Date(by.now.getTime() + Number(days) * dayMs);
  const bound = await resolveTokenRepositories(cell, id, scopes, optionValues.repositories);
  if (typeof bound === 'string') return fail(2, bound);
  const { secret } = await issueToken(cell, by, {
    name: optionValues.name ?? 'token',
    scopes: [...new Set(scopes)],
    expiresAt,
    repositoryIds: bound,
  });
  // Only the token goes to standard output, so that a script can read it.
  console.error('Store this token now: it is not shown again.');
  console.log(secret);
  return 0;
}

/** The repositories of an upload-only token; null: the token has other scopes. A text: an error. */
async function resolveTokenRepositories(
  cell: Cell,
  organizationId: AdminOrganizationId,
  scopes: readonly string[],
  typed: string | undefined,
): Promise<readonly RepositoryId[] | null | string> {
  const isUploadOnly = scopes.every((scope) => scope === 'upload');
  if (!isUploadOnly)
    return typed === undefined
      ? null
      : '--repositories is only for tokens whose only scope is upload. Remove it, or use --scopes upload.';
  const names = (typed ?? '').split(',').flatMap((name) => name.trim() || []);
  if (names.length === 0)
    return 'A token whose only scope is upload needs its repositories. Add --repositories host/owner/name, comma-separated.';
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
  return ids.length === names.length
    ? ids
    : `The organization has no repository ${unknown}. Create a queue for it first, or check its name.`;
}

async function printTokens(cell: Cell, id: AdminOrganizationId): Promise<number> {
  // Oldest first, so that the newest are last on a terminal.
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
