import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { describeMatrix, label, logins, type Stage, type World } from './matrix.ts';

const repo = { host: 'sandbox.example', owner: 'acme', name: 'matrix' };

async function openStage(world: World): Promise<Stage> {
  const { id: organizationId } = await ensureOrganization(world.cell.db, 'matrix', 'Matrix');
  const row = await ensureRepository(world.cell.db, organizationId, { ...repo, isSandbox: true });
  const client = await world.client('matrix');
  // The sandbox has no role between read and write.
  const people = { '*': 'none', rita: 'read', tess: 'read', wanda: 'write', ada: 'admin', dora: 'admin' };
  await client.call('sandboxConfigureRepository', { repo, people, ci: { mode: 'manual' } });
  let last = 0;
  const of = (number: number) => ({ repo, pr: { number } });
  const labelBy = (by: string, number: number) =>
    client.call('sandboxChangeLabels', { ...of(number), add: [label], by });
  const webhooks = (mode: 'drop' | 'deliver') =>
    client.call('sandboxConfigureRepository', { repo, faults: { webhooks: mode } });
  return {
    newHost: () => null,
    repository: { ...row, organizationId },
    people: logins,
    propose: async (labelledBy) => {
      const number = (last += 1);
      await client.call('sandboxCreatePullRequest', { ...of(number), author: labelledBy ?? 'author' });
      if (labelledBy !== null) await labelBy(labelledBy, number);
      return number;
    },
    comment: async (by, number, text) =>
      (await client.call('sandboxWriteComment', { ...of(number), author: by, text })).comment.id,
    editComment: async (number, id, text) => {
      await client.call('sandboxEditComment', { ...of(number), id, text });
    },
    review: null,
    label: async (by, number, isLost) => {
      if (isLost) await webhooks('drop');
      await labelBy(by, number);
      if (isLost) await webhooks('deliver');
    },
    deleteAccount: (login) =>
      client.call('sandboxConfigureRepository', { repo, people: { [login]: 'none' } }),
    webhooks: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

describeMatrix('the sandbox', openStage);
