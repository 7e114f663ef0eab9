// The webhook of the App, as Signalbox sets it.

import { describe, expect, it } from 'vitest';
import { openGithub } from './github-fixture.ts';

const hooks = 'https://queue.example/hooks/';
const other = `${hooks}main_2`;
const wanted = { url: `${hooks}main_1`, sharing: [other], secret: 'obviously-fake', isSecretNew: false };

describe('the webhook of the App', () => {
  it('gets the URL and the secret of the connection, once', async () => {
    const { server, host, repository } = await openGithub({ webhookUrl: hooks });
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'set' });
    expect([server.webhookUrl(), server.webhookSecret]).toEqual([wanted.url, wanted.secret]);
    server.setWebhook({ secret: 'as a person set it' });
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'unchanged' });
    expect(server.webhookSecret).toBe('as a person set it');
  });

  it('keeps its URL and gets the secret that replaces another', async () => {
    const { server, host, repository } = await openGithub({ webhookUrl: other });
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'unchanged' });
    expect(await host.ensureWebhook(repository, { ...wanted, isSecretNew: true })).toEqual({ kind: 'set' });
    expect([server.webhookUrl(), server.webhookSecret]).toEqual([other, wanted.secret]);
  });

  it('gets the URL of the connection if it leads to one that was removed', async () => {
    const { server, host, repository } = await openGithub({ webhookUrl: `${hooks}main_3` });
    expect(await host.ensureWebhook(repository, wanted)).toEqual({ kind: 'set' });
    expect(server.webhookUrl()).toBe(wanted.url);
  });

  it('stays as it is if it leads to another program', async () => {
    const elsewhere = 'https://elsewhere.example/github';
    const { server, host, repository } = await openGithub({ webhookUrl: elsewhere });
    const { webhookSecret } = server;
    expect(await host.ensureWebhook(repository, { ...wanted, isSecretNew: true })).toEqual({
      kind: 'cannot',
      reason: `The webhook of the App leads to elsewhere.example. If the App is for Signalbox alone, set the URL of its webhook to ${wanted.url}.`,
    });
    expect([server.webhookUrl(), server.webhookSecret]).toEqual([elsewhere, webhookSecret]);
  });

  it('is switched on by a person, and a person sets it if Signalbox is connected as an account', async () => {
    const { server, host, repository, connect } = await openGithub();
    expect(await host.ensureWebhook(repository, wanted)).toMatchObject({ kind: 'cannot' });
    const asAccount = connect({ kind: 'token', token: server.newUser('bot').token });
    expect(await asAccount.ensureWebhook(repository, wanted)).toMatchObject({ kind: 'cannot' });
    expect(server.webhookUrl()).toBeNull();
  });
});
