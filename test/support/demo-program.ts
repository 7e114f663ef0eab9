// `signalbox demo` as a program that a person has started: where its dashboard is, how the person signs in, and how the
// person stops it.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';

/** The address of the dashboard that the demo prints, with the token. */
export async function dashboardAddress(demo: ChildProcess): Promise<string> {
  let printed = '';
  for (const stream of [demo.stdout!, demo.stderr!])
    stream.on('data', (chunk: Buffer) => (printed = `${printed}${chunk.toString()}`.slice(-10_000)));
  for (;;) {
    const [address] = /http:\/\/localhost:\d+\/app\/#token=\S+/.exec(printed) ?? [];
    if (address !== undefined) return address;
    if (demo.exitCode !== null) throw new Error(`The demo did not start:\n${printed}`);
    await sleep(50);
  }
}

export async function signIn(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('acme/shop').first().waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  if (page.url().includes('token')) throw new Error('The token is still in the address.');
}

/** As Ctrl-C in a terminal does: every process of the group gets the signal. */
export async function endGroup(demo: ChildProcess): Promise<void> {
  if (demo.exitCode !== null || demo.signalCode !== null) return;
  const exited = once(demo, 'exit');
  process.kill(-demo.pid!, 'SIGINT');
  await exited;
}
