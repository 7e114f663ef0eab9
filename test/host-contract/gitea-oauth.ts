// Lets an OAuth application act for a person on a real Gitea, as that person does it in a browser.

import type { Credentials } from '#host/connection.ts';
import type { Gitea, GiteaUser } from '../gitea/server.ts';

const redirectUri = 'http://127.0.0.1/back';

type Application = { readonly client_id: string; readonly client_secret: string };
type Tokens = { readonly access_token: string; readonly refresh_token: string; readonly expires_in: number };

export async function authorize(
  { url, call }: Gitea,
  person: GiteaUser,
): Promise<Extract<Credentials, { kind: 'oauth' }>> {
  const { client_id, client_secret } = await call<Application>(
    person.token,
    'POST',
    '/user/applications/oauth2',
    { name: 'signalbox', redirect_uris: [redirectUri], confidential_client: true },
  );
  const cookies = new Map<string, string>();
  const send = async (path: string, form: Record<string, string>) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; '), origin: url },
      body: new URLSearchParams(form),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return answer.headers.get('location') ?? '';
  };
  await send('/user/login', { user_name: person.name, password: person.password });
  const asked = { client_id, state: 'x', scope: '', nonce: '', redirect_uri: redirectUri };
  const query = new URLSearchParams({ ...asked, response_type: 'code' });
  await fetch(`${url}/login/oauth/authorize?${query.toString()}`, {
    headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
  });
  const back = await send('/login/oauth/grant', { ...asked, granted: 'true' });
  const answer = await fetch(`${url}/login/oauth/access_token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id,
      client_secret,
      code: new URL(back).searchParams.get('code'),
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
    }),
  });
  const { access_token, refresh_token, expires_in } = (await answer.json()) as Tokens;
  return {
    kind: 'oauth',
    clientId: client_id,
    clientSecret: client_secret,
    accessToken: access_token,
    refreshToken: refresh_token,
    expiresAt: Date.now() + expires_in * 1_000,
  };
}
