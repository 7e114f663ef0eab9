// Signing in to the dashboard with OpenID Connect: the variables of it, and what of them must be set together.

import { z } from 'zod';
import type { RoleRules } from '#core/person.ts';

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const issuer = z.string().superRefine((text, context) => {
  const url = URL.parse(text);
  const problem = (message: string) => context.addIssue({ code: 'custom', message });
  if (url === null || !/^https?:$/.test(url.protocol)) return problem('must be an https address');
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    return problem('must be the plain address of the issuer, without a query or a password');
  if (url.protocol === 'http:' && !loopback.test(url.hostname))
    return problem('must be an https address: what comes over plain http can be changed on the way');
  return undefined;
});

/** Values with commas between them. */
const values = z
  .string()
  .transform((text) => text.split(',').map((value) => value.trim()))
  .pipe(z.array(z.string().min(1, 'holds an empty value').max(256)).max(200, 'names more than 200 values'));

export const oidcVariables = {
  SIGNALBOX_OIDC_ISSUER: {
    schema: issuer.optional(),
    doc: 'Issuer of an OpenID Connect provider that people sign in to the dashboard with, for example `https://id.example.com/realms/acme`. Must be https, except at the loopback address. Needs `SIGNALBOX_OIDC_CLIENT_ID`, `SIGNALBOX_OIDC_ORGANIZATION`, `SIGNALBOX_PUBLIC_URL` and at least one of the three lists of roles. At the provider, register the address `<SIGNALBOX_PUBLIC_URL>/app/api/oidc/callback`.',
  },
  SIGNALBOX_OIDC_CLIENT_ID: {
    schema: z.string().max(512).optional(),
    doc: 'Id of Signalbox as a client of that provider.',
  },
  SIGNALBOX_OIDC_CLIENT_SECRET: {
    schema: z.string().max(4096).optional(),
    doc: 'Secret of that client. Absent: a public client, which proves itself with PKCE alone.',
  },
  SIGNALBOX_OIDC_ORGANIZATION: {
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be a slug of a-z, 0-9 and dashes')
      .optional(),
    doc: 'Slug of the organization whose members sign in through the provider.',
  },
  SIGNALBOX_OIDC_SCOPES: {
    schema: z
      .string()
      .max(512)
      .default('openid profile email')
      .refine((text) => text.split(/\s+/).includes('openid'), 'must hold openid'),
    doc: 'Scopes that are asked for, with blanks between them. Some providers tell groups only if a scope asks for them.',
  },
  SIGNALBOX_OIDC_ROLE_CLAIM: {
    schema: z.string().max(256).default('groups'),
    doc: 'Claim that gives people their role: a text or a list of texts, in the ID token or in what the provider’s userinfo endpoint answers. `email` counts only where `email_verified` is true.',
  },
  SIGNALBOX_OIDC_ADMINS: {
    schema: values.refine((list) => !list.includes('*'), 'must not be *: name who is an admin').optional(),
    doc: 'Values of that claim, with commas between them, that make an admin: may do all that the dashboard offers, tokens too.',
  },
  SIGNALBOX_OIDC_SUBMITTERS: {
    schema: values.optional(),
    doc: 'Values that make a submitter: may look, submit, cancel, restart tests and change priorities. `*`: everybody who can sign in at the provider.',
  },
  SIGNALBOX_OIDC_VIEWERS: {
    schema: values.optional(),
    doc: 'Values that make a viewer: may look. `*`: everybody who can sign in at the provider. Whoever has no role is refused.',
  },
  SIGNALBOX_OIDC_LABEL: {
    schema: z.string().max(60).default('Sign in with single sign-on'),
    doc: 'What the button on the sign-in page says.',
  },
} as const;

type Variables = typeof oidcVariables;
type Parsed = { readonly [Name in keyof Variables]: z.output<Variables[Name]['schema']> };

export type OidcConfig = {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  readonly organization: string;
  readonly scopes: string;
  readonly roles: RoleRules;
  readonly label: string;
};

type Env = Readonly<Record<string, string | undefined>>;

const needed = [
  'SIGNALBOX_OIDC_ISSUER',
  'SIGNALBOX_OIDC_CLIENT_ID',
  'SIGNALBOX_OIDC_ORGANIZATION',
  'SIGNALBOX_PUBLIC_URL',
] as const;

/** Half a configuration would be found out by whoever tries to sign in. */
export function oidcProblems(env: Env): readonly string[] {
  const given = Object.keys(oidcVariables).filter((name) => env[name] !== undefined);
  if (given.length === 0) return [];
  const missing = needed.filter((name) => env[name] === undefined);
  const hasRoles = ['ADMINS', 'SUBMITTERS', 'VIEWERS'].some(
    (name) => env[`SIGNALBOX_OIDC_${name}`] !== undefined,
  );
  return [
    ...missing.map((name) => `${name}: set it too, or no variable that begins with SIGNALBOX_OIDC_`),
    ...(hasRoles
      ? []
      : [
          'SIGNALBOX_OIDC_ADMINS, SIGNALBOX_OIDC_SUBMITTERS, SIGNALBOX_OIDC_VIEWERS: set one of them, or nobody could sign in',
        ]),
  ];
}

/** Of variables without problems. */
export function oidcOf(parsed: Parsed): OidcConfig | null {
  if (parsed.SIGNALBOX_OIDC_ISSUER === undefined) return null;
  return {
    issuer: parsed.SIGNALBOX_OIDC_ISSUER,
    clientId: parsed.SIGNALBOX_OIDC_CLIENT_ID ?? '',
    clientSecret: parsed.SIGNALBOX_OIDC_CLIENT_SECRET ?? null,
    organization: parsed.SIGNALBOX_OIDC_ORGANIZATION ?? '',
    scopes: parsed.SIGNALBOX_OIDC_SCOPES,
    roles: {
      claim: parsed.SIGNALBOX_OIDC_ROLE_CLAIM,
      values: {
        admin: parsed.SIGNALBOX_OIDC_ADMINS ?? [],
        submitter: parsed.SIGNALBOX_OIDC_SUBMITTERS ?? [],
        viewer: parsed.SIGNALBOX_OIDC_VIEWERS ?? [],
      },
    },
    label: parsed.SIGNALBOX_OIDC_LABEL,
  };
}
