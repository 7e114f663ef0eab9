import { describe, expect, it } from 'vitest';
import { parseEnv } from './env.ts';

const whole = {
  DATABASE_URL: 'postgresql://sb:pw@db:5432/signalbox',
  SIGNALBOX_PUBLIC_URL: 'https://queue.example.com',
  SIGNALBOX_OIDC_ISSUER: 'https://id.example.com/realms/acme',
  SIGNALBOX_OIDC_CLIENT_ID: 'signalbox',
  SIGNALBOX_OIDC_ORGANIZATION: 'acme',
  SIGNALBOX_OIDC_ADMINS: 'leads, ops',
};

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const result = parseEnv(env);
  return result.kind === 'invalid' ? result.problems : [];
}

describe('signing in with OpenID Connect', () => {
  it('has a default for what need not be said', () => {
    const result = parseEnv(whole);
    expect(result.kind === 'parsed' && result.config.oidc).toEqual({
      issuer: 'https://id.example.com/realms/acme',
      clientId: 'signalbox',
      clientSecret: null,
      organization: 'acme',
      scopes: 'openid profile email',
      roles: { claim: 'groups', values: { admin: ['leads', 'ops'], submitter: [], viewer: [] } },
      label: 'Sign in with single sign-on',
    });
  });

  it.each([
    'SIGNALBOX_PUBLIC_URL',
    'SIGNALBOX_OIDC_ISSUER',
    'SIGNALBOX_OIDC_CLIENT_ID',
    'SIGNALBOX_OIDC_ORGANIZATION',
  ])('is refused without %s', (name) => {
    expect(problemsOf({ ...whole, [name]: '' })).toEqual([expect.stringMatching(`^${name}: set it too`)]);
  });

  it('is refused if no user could have a role', () => {
    expect(problemsOf({ ...whole, SIGNALBOX_OIDC_ADMINS: '' })).toEqual([
      expect.stringMatching(/no one can sign in$/),
    ]);
    expect(problemsOf({ ...whole, SIGNALBOX_OIDC_ADMINS: '', SIGNALBOX_OIDC_VIEWERS: '*' })).toEqual([]);
  });

  it('is refused when no more is said than a label', () => {
    const { DATABASE_URL } = whole;
    expect(problemsOf({ DATABASE_URL, SIGNALBOX_OIDC_LABEL: 'Sign in' })).toHaveLength(5);
  });

  it.each([
    ['ISSUER', 'http://id.example.com', 'must be an https URL'],
    ['ISSUER', 'http://localhost.evil.test', 'must be an https URL'],
    ['ISSUER', 'id.example.com', 'must be an https URL'],
    ['ISSUER', 'https://user:pw@id.example.com', 'must be the URL of the issuer'],
    ['ISSUER', 'https://id.example.com/?tenant=1', 'must be the URL of the issuer'],
    ['ADMINS', '*', 'must not be *'],
    ['ADMINS', 'leads,,ops', 'empty value'],
    ['ORGANIZATION', 'Acme Inc', 'must be a slug'],
    ['SCOPES', 'profile email', 'must contain openid'],
  ])('refuses %s=%s', (name, value, problem) => {
    expect(problemsOf({ ...whole, [`SIGNALBOX_OIDC_${name}`]: value })).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  it.each(['http://localhost:9000', 'http://127.0.0.1:9000/', 'http://[::1]:9000'])(
    'takes %s, which never leaves the machine',
    (issuer) => {
      expect(problemsOf({ ...whole, SIGNALBOX_OIDC_ISSUER: issuer })).toEqual([]);
    },
  );
});
