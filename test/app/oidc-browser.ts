// Signing in at the provider without a browser: its forms are filled in, its cookies kept, its redirects followed.
import type { World } from '../support/harness.ts';
import { type Answer, send } from './browser.ts';

export const callbackUrl = 'http://localhost:8080/app/api/oidc/callback';

/** What the browser shows when it begins. */
export type Begun = { readonly answer: Answer; readonly location: string; readonly cookie: string };

const cookiesOf = ({ headers }: Answer): readonly string[] =>
  [headers['set-cookie'] ?? []].flat().map(String);

export const cookieNamed = (answer: Answer, name: string): string | undefined =>
  cookiesOf(answer).find((text) => text.startsWith(`${name}=`));

const pairOf = (cookie: string | undefined): string => cookie?.split(';')[0] ?? '';

export async function begin(server: World['server'], path = '/app/'): Promise<Begun> {
  const query = new URLSearchParams({ return: path }).toString();
  const answer = await send(server, { method: 'GET', path: `/app/api/oidc/start?${query}`, headers: {} });
  return {
    answer,
    location: String(answer.headers['location']),
    cookie: pairOf(cookieNamed(answer, 'signalbox_oidc')),
  };
}

/** Fills in what the provider asks until it sends the browser back; answers where to. */
export async function signInAt(location: string, login: string | null): Promise<URL> {
  const jar = new Map<string, string>();
  let next: { url: string; form?: Record<string, string> } = { url: location };
  for (let steps = 0; steps < 20; steps += 1) {
    if (next.url.startsWith(callbackUrl)) return new URL(next.url);
    const response = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(next.form && { method: 'POST', body: new URLSearchParams(next.form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = pairOf(cookie).split('=');
      jar.set(name, value);
    }
    const to = response.headers.get('location');
    next = to === null ? formIn(await response.text(), login) : { url: new URL(to, next.url).href };
  }
  throw new Error('The provider does not send the browser back.');
}

function formIn(page: string, login: string | null): { url: string; form?: Record<string, string> } {
  const abort = /href="([^"]*\/abort)"/.exec(page)?.[1];
  if (login === null && abort !== undefined) return { url: abort };
  const url = /<form[^>]* action="([^"]*)"/.exec(page)?.[1];
  const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
  if (url === undefined || prompt === undefined || login === null)
    throw new Error(`The provider shows: ${page}`);
  return { url, form: { prompt, login, password: 'any' } };
}

export const comeBack = (server: World['server'], url: URL, cookie: string): Promise<Answer> =>
  send(server, {
    method: 'GET',
    path: `${url.pathname}${url.search}`,
    // As a browser sends it that comes from the provider's site.
    headers: { 'sec-fetch-site': 'cross-site', cookie },
  });

/** All of it; `login` null: the person says no. */
export async function signInAs(
  server: World['server'],
  login: string | null,
  path?: string,
): Promise<Answer> {
  const { location, cookie } = await begin(server, path);
  return comeBack(server, await signInAt(location, login), cookie);
}

/** Why it did not work, as told to the sign-in page. */
export const problemOf = ({ headers }: Answer): string | null => {
  const { pathname, searchParams } = new URL(String(headers['location']), 'http://own.invalid');
  return pathname === '/app/sign-in' ? searchParams.get('problem') : null;
};

export const sessionCookie = (answer: Answer): string => pairOf(cookieNamed(answer, 'signalbox_session'));
