import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../script/free-port.ts';
import { openWebhookWorld } from './world.ts';

/** The receiver of the guide, as it stands there. */
const [, program] = /```js\n(.*?)```/s.exec(readFileSync('docs/how-to/webhooks.md', 'utf8'))!;

async function startGuide(secret: string) {
  const port = await freePort();
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.end(program);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const url = `http://127.0.0.1:${port}/`;
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(url, { method: 'POST', body: '{}' }).catch(() => null);
    if (answer !== null) return { url, lines, unsigned: answer.status };
    await sleep(50);
  }
  throw new Error('The receiver of the guide did not start.');
}

it('the receiver of the guide takes what we send, once, and refuses what others do', async () => {
  const world = await openWebhookWorld();
  const { endpoint, signingSecret } = await world.createEndpoint();
  const endpointId = endpoint.id;
  const guide = await startGuide(signingSecret!);
  expect(guide.unsigned).toBe(400);
  await world.admin.call('updateWebhookEndpoint', { endpointId, url: guide.url });
  const { deliveryId } = await world.admin.call('sendTestWebhook', { endpointId });
  await world.deliver();
  await world.admin.call('replayWebhookDelivery', { endpointId, deliveryId });
  await world.deliver();
  const { deliveries } = await world.admin.call('listWebhookDeliveries', { endpointId });
  expect(deliveries[0]!.attempts.map(({ status }) => status)).toEqual([204, 204]);
  expect(guide.lines).toEqual(['webhook.test ']);
});
