import type { Credentials } from '../connection.ts';
import { type AccessMethod, type HostKind, tokenAccess } from '../host-kind.ts';

type OAuthCredentials = Extract<Credentials, { kind: 'oauth' }>;

const texts = ['clientId', 'clientSecret', 'accessToken', 'refreshToken'] as const;

const oauthAccess: AccessMethod = {
  options: {
    'oauth-file': {
      value: 'file',
      text: `${texts.join(', ')}, expiresAt as JSON`,
    },
  },
  note: `An OAuth file is JSON with ${texts.join(', ')} and expiresAt (milliseconds).`,
  read: (values) => {
    const given = parseObject(values['oauth-file']!);
    if (texts.some((name) => typeof given[name] !== 'string') || typeof given['expiresAt'] !== 'number')
      return { mistake: `The OAuth file must have ${texts.join(', ')} and expiresAt.` };
    return { kind: 'oauth', ...(given as Omit<OAuthCredentials, 'kind'>) };
  },
};

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

export const giteaKind: HostKind = {
  title: 'Gitea and Forgejo',
  exampleUrl: 'https://git.example',
  isKnownName: (hostName) => hostName === 'codeberg.org' || hostName === 'gitea.com',
  access: [tokenAccess, oauthAccess],
  load: async () => (await import('./host.ts')).createGiteaHost,
};
