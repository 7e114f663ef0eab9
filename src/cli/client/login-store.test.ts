import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findConnection } from './connection.ts';
import { readLogins, writeLogins } from './login-store.ts';

describe('logins', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'signalbox-login-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const [one, two] = ['https://one.example', 'https://two.example'];
  const keep = () =>
    writeLogins(
      { HOME: home },
      {
        current: two,
        services: {
          [one]: { token: 'token-one', organization: 'acme' },
          [two]: { token: 'token-two', organization: 'acme' },
        },
      },
    );

  it('are kept where only their owner can read them', () => {
    const file = keep();
    expect(file).toBe(join(home, '.config/signalbox/login.json'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Object.keys(readLogins({ HOME: home }).services)).toEqual([one, two]);
  });

  it('follow XDG_CONFIG_HOME', () => {
    const env = { HOME: '/nonexistent', XDG_CONFIG_HOME: home };
    expect(writeLogins(env, { current: null, services: {} })).toBe(join(home, 'signalbox/login.json'));
  });

  it('are used in order: option, environment, what was kept', () => {
    keep();
    const find = (env: Record<string, string>, options = {}) =>
      findConnection({ env: { HOME: home, ...env } }, options);
    expect(find({})).toEqual({ url: two, token: 'token-two' });
    expect(find({}, { url: `${one}/` })).toEqual({ url: one, token: 'token-one' });
    expect(find({ SIGNALBOX_URL: one })).toEqual({ url: one, token: 'token-one' });
    expect(find({ SIGNALBOX_API_TOKEN: 'given' })).toEqual({ url: two, token: 'given' });
  });

  it('are not sent to another address', () => {
    keep();
    expect(() => findConnection({ env: { HOME: home } }, { url: 'https://three.example' })).toThrow(
      /no token for https:\/\/three.example. Log in/,
    );
  });

  it('that cannot be read are not guessed at', () => {
    const file = keep();
    for (const text of ['{', '{}', '{"current":1,"services":{}}', '{"current":null,"services":{"a":{}}}']) {
      writeFileSync(file, text);
      expect(() => readLogins({ HOME: home })).toThrow(/not a valid login file/);
    }
  });
});
