// How GitHub names accounts in commits.

import { expect, it } from 'vitest';
import { counted, openGithub } from './github-fixture.ts';

it('the App is its bot, a person their account, each by the noreply address of the server, asked for once', async () => {
  const { server, host, repository, connect, token } = await openGithub();
  const domain = `users.noreply.${new URL(server.url).hostname}`;
  const own = await host.readPerson(repository, null);
  expect(own).toMatchObject({ name: 'signalbox[bot]' });
  expect(own!.email).toMatch(new RegExp(`^\\d+\\+signalbox\\[bot\\]@${domain}$`));
  const ada = await host.readPerson(repository, 'ada');
  expect(ada!.email).toMatch(new RegExp(`^\\d+\\+ada@${domain}$`));
  expect(await host.readPerson(repository, 'Ada')).toEqual(ada);
  expect(await host.readPerson(repository, 'nobody-here')).toBeNull();
  expect(counted(server)).toMatchObject({ 'GET /users/{username}': 3 });
  const account = connect({ kind: 'token', token });
  expect(await account.readPerson(repository, null)).toEqual(ada);
});
