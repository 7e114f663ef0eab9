import { expect, it } from 'vitest';
import { openGiteaQueue } from '../gitea/queue.ts';
import { listRequests } from './meter.ts';
import { callsPerLanding } from './table.ts';

it('asks Gitea no more often for a landing than the table says', async () => {
  const { gitea, propose, submit, pass, state } = await openGiteaQueue();
  const land = async (branch: string) => {
    const number = await propose(branch);
    return listRequests(gitea.proxy.url, async () => {
      await submit(number);
      await pass();
      expect(await state(number)).toBe('merged');
    });
  };
  await land('one');
  await land('two');
  const requests = await land('three');
  // oxlint-disable-next-line no-console -- a person who changes the table reads it here
  console.log(requests.join('\n'));
  expect(requests.length).toBeLessThanOrEqual(callsPerLanding.gitea);
});
