import { describe, expect, it } from 'vitest';
import { findConnection } from '#db/account/connection-store.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import { bootstrap } from '#db/account/bootstrap.ts';
import { indexCells } from '#db/cell.ts';
import { signatureHeader, signWebhook } from '#host/sandbox/webhook.ts';
import { clientOf, main, openWorldForTest, pr, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

describe('two cells behind one API', () => {
  it('keep organizations apart: each is served from the database its token names', async () => {
    const world = await openWorldForTest({ cellNames: ['north', 'south'] });
    const [north, south] = world.cells;
    const acme = await world.client('acme', undefined, north);
    const globex = await world.client('globex', undefined, south);
    for (const client of [acme, globex]) {
      await client.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual' } });
      await client.call('createQueue', main);
    }
    await acme.call('submitPullRequest', pr(1));
    await globex.call('submitPullRequest', pr(2));
    await world.runJobs();

    const numbers = async (client: typeof acme) =>
      (await client.call('getQueue', main)).enqueuedPullRequests.map(({ prNumber, state }) => [
        prNumber,
        state,
      ]);
    expect(await numbers(acme)).toEqual([[1, 'testing']]);
    expect(await numbers(globex)).toEqual([[2, 'testing']]);
    const entries = (cell: typeof north) => sql(cell!.db)`select pr_number from queue_entry`;
    expect(await entries(north)).toEqual([{ pr_number: 1 }]);
    expect(await entries(south)).toEqual([{ pr_number: 2 }]);
    const tested = (cell: typeof north) => sql(cell!.db)`select pr_number from test_run_member`;
    expect(await tested(north)).toEqual([{ pr_number: 1 }]);
    expect(await tested(south)).toEqual([{ pr_number: 2 }]);
  });

  it('refuse a token that names another cell, or none there is', async () => {
    const world = await openWorldForTest({ cellNames: ['north', 'south'] });
    const { id } = await ensureOrganization(world.cell.db, 'acme', 'Acme');
    const token = await createToken(world.cell, id, { name: 'ci', scopes: ['read'], expiresAt: null });
    expect(token).toMatch(/^sbx_north_[0-9a-z]{10}_[0-9a-f]{64}$/);
    await clientOf(world.server, token).call('getOrganization', {});
    for (const wrong of [token.replace('north', 'south'), token.replace('north', 'nowhere'), 'sbx_'])
      expect((await clientOf(world.server, wrong).refusal('getOrganization', {}, 401)).code).toBe(
        'INVALID_TOKEN',
      );
  });

  it('look a bootstrap token of any form up in the first cell', async () => {
    const world = await openWorldForTest({ cellNames: ['north', 'south'] });
    const wish = { organization: 'acme', token: 'any-string-of-16-or-more' };
    await bootstrap(indexCells(world.cells), wish);
    await bootstrap(indexCells(world.cells), wish);
    const client = clientOf(world.server, wish.token);
    expect(await client.call('getOrganization', {})).toMatchObject({
      organization: { slug: 'acme' },
      token: { scopes: ['read', 'submit', 'admin', 'upload'] },
    });
    expect(await sql(world.cells[1]!.db)`select * from organization`).toEqual([]);
  });

  it('take a webhook to the cell that its address names, and believe only a signed one', async () => {
    const world = await openWorldForTest({ cellNames: ['north', 'south'] });
    const south = world.cells[1]!;
    const team = await world.client('globex', undefined, south);
    await team.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual' } });
    await team.call('createQueue', main);
    await team.call('submitPullRequest', pr(5));
    await world.runJobs();
    // The host changes its mind without telling; the webhook is what makes us ask.
    await sql(south.db)`update sandbox_pull_request set state = 'closed'`;
    const [row] = await sql<{ id: string }>(south.db)`select id from host_connection`;
    const { id } = row!;
    const connection = (await findConnection(south.db, id))!;
    const body = JSON.stringify({ event: 'pull_request', repository: widgets, number: 5 });
    const deliver = (cell: string, secret: string) =>
      team.send({
        path: `/hooks/${cell}_${id}`,
        headers: { [signatureHeader]: signWebhook(secret, Buffer.from(body)) },
        body,
      });

    expect((await deliver('north', connection.webhookSecret)).status).toBe(404);
    expect((await deliver('south', 'not the secret')).status).toBe(401);
    await world.runJobs();
    expect((await team.call('getSubmittedPullRequest', pr(5))).state).toBe('testing');

    expect(await deliver('south', connection.webhookSecret)).toMatchObject({ status: 200, body: {} });
    await deliver('south', connection.webhookSecret);
    await world.runJobs();
    expect((await team.call('getSubmittedPullRequest', pr(5))).conclusionReason).toBe('PR_CLOSED');
  });
});
