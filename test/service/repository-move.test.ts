// A repository that is renamed or transferred at its host is followed by the id that the host gave it.

import { expect, it } from 'vitest';
import type { OrganizationId } from '#base/id.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import { followRepositories } from '#db/account/repository-move.ts';
import { main, openWorldForTest, widgets } from '../support/harness.ts';

async function openKnown() {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  const { rows } = await world.cell.pool.query<{ id: string; organization_id: string }>(
    'select id, organization_id from repository',
  );
  const organizationId = rows[0]!.organization_id as OrganizationId;
  const find = async (owner: string, name: string, hostId?: string) => {
    const repository = { host: widgets.host, owner, name, ...(hostId === undefined ? {} : { hostId }) };
    return (await followRepositories(world.cell.db, [{ organizationId, repository }]))[0];
  };
  const name = async () =>
    (await world.cell.pool.query<{ owner: string; name: string }>('select owner, name from repository')).rows;
  return { world, client, organizationId, id: rows[0]!.id, find, name };
}

it('a renamed and transferred repository keeps its queue, under its new name', async () => {
  const { world, client, organizationId, id, find, name } = await openKnown();
  // The first event that names the id teaches it.
  expect(await find(widgets.owner, widgets.name, '42')).toBe(id);
  const repository = { host: widgets.host, owner: 'Umbrella', name: 'Gadgets', hostId: '42' };
  await recordHostEvents(world.cell, organizationId, [{ kind: 'repository-moved', repository }]);
  expect(await name()).toEqual([{ owner: 'Umbrella', name: 'Gadgets' }]);
  expect(await find('umbrella', 'gadgets', '42')).toBe(id);
  const moved = { ...main, repo: { ...widgets, owner: 'umbrella', name: 'gadgets' } };
  expect(await client.call('getQueue', moved)).toMatchObject({ state: 'RUNNING' });
  // Webhooks that were on their way with the old name still count.
  expect(await find(widgets.owner, widgets.name, '42')).toBe(id);
});

it('a name that was given to another repository since is not taken for the one that had it', async () => {
  const { find, id } = await openKnown();
  expect(await find(widgets.owner, widgets.name, '42')).toBe(id);
  expect(await find(widgets.owner, widgets.name, '43')).toBeNull();
  // A host that names no id is believed by the name.
  expect(await find(widgets.owner, widgets.name)).toBe(id);
});
