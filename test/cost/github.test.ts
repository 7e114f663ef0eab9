import { expect, it } from 'vitest';
import { openGithubQueue } from '../scenario/github-queue.ts';
import { listRequests } from './meter.ts';
import { callsPerLanding } from './table.ts';

it('asks GitHub no more often for a landing than the table says', async () => {
  const { server, propose, submit, pass, state } = await openGithubQueue();
  const { origin } = new URL(server.apiUrl);
  const land = async (branch: string) => {
    const { number } = await propose(branch);
    return listRequests(origin, async () => {
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
  expect(requests.length).toBeLessThanOrEqual(callsPerLanding.github);
});
