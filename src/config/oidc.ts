// Signing in to the dashboard with OpenID Connect: its variables, and which of them must be set together.

import { z } from 'zod';
import type { RoleRules } from '#core/person.ts';

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const issuer = z.string().superRefine((text, context) => {
  const url = URL.parse(text);
  const problem = (message: string) => context.addIssue({ code: 'custom', message });
  if (url === null || !/^https?:$/.test(url.protocol)) return problem('must be an https URL');
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    return problem('must be the URL of the issuer, without a query or a password');
  if (url.protocol === 'http:' && !loopback.test(url.hostname))
    return problem('must be an https URL, because plain http can be modified in transit');
  return undefined;
});

/** Comma-separated values. */
const values = z
  .string()
  .transform((text) => text.split(',').map((value) => value.trim()))
  .pipe(
    z
      .array(z.string().min(1, 'must not contain an empty value').max(256))
      .max(200, 'must have at most 200 values'),
  );

export const oidcVariables = {
  SIGNALBOX_OIDC_ISSUER: {
    schema: issuer.optional(),
    doc: 'Issuer URL of the OpenID Connect provider for the dashboard, for example `https://id.example.com/realms/acme`. Must be https, except at the loopback address. Needs `SIGNALBOX_OIDC_CLIENT_ID`, `SIGNALBOX_OIDC_ORGANIZATION`, `SIGNALBOX_PUBLIC_URL` and at least one of the three lists of roles. At the provider, register the redirect URL `<SIGNALBOX_PUBLIC_URL>/app/api/oidc/callback`.',
  },
  SIGNALBOX_OIDC_CLIENT_ID: {
    schema: z.string().max(512).optional(),
    doc: 'Client id of Signalbox at that provider.',
  },
  SIGNALBOX_OIDC_CLIENT_SECRET: {
    schema: z.string().max(4096).optional(),
    doc: 'Secret of that client. Default: none, which makes Signalbox a public client with PKCE.',
  },
  SIGNALBOX_OIDC_ORGANIZATION: {
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be a slug of a-z, 0-9 and dashes')
      .optional(),
    doc: 'Slug of the organization whose users sign in with the provider.',
  },
  SIGNALBOX_OIDC_SCOPES: {
    schema: z
      .string()
      .max(512)
      .default('openid profile email')
      .refine((text) => text.split(/\s+/).includes('openid'), 'must contain openid'),
    doc: 'Scopes to request, separated by spaces. Some providers send groups only if a scope requests them.',
  },
  SIGNALBOX_OIDC_ROLE_CLAIM: {
    schema: z.string().max(256).default('groups'),
    doc: 'Claim that decides the role of a user: a string or a list of strings, in the ID token or in the response of the userinfo endpoint. `email` counts only if `email_verified` is true.',
  },
  SIGNALBOX_OIDC_ADMINS: {
    schema: values
      .refine((list) => !list.includes('*'), 'must not be *: name the values of admins')
      .optional(),
    doc: 'Values of that claim, comma-separated, that make a user an admin. An admin can do everything on the dashboard, including creating tokens.',
  },
  SIGNALBOX_OIDC_SUBMITTERS: {
    schema: values.optional(),
    doc: 'Values that make a user a submitter. A submitter can read, submit, cancel, restart tests and change priorities. `*`: everyone who can sign in at the provider.',
  },
  SIGNALBOX_OIDC_VIEWERS: {
    schema: values.optional(),
    doc: 'Values that make a user a viewer. A viewer can only read. `*`: everyone who can sign in at the provider. A user without a role is denied access.',
  },
  SIGNALBOX_OIDC_LABEL: {
    schema: z.string().max(60).default('Sign in with single sign-on'),
    doc: 'Text of the button on the sign-in page.',
  },
} as const;

type OidcVariables = typeof oidcVariables;
type ParsedOidcVariables = {
  readonly [Name in keyof OidcVariables]: z.output<OidcVariables[Name]['schema']>;
};

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

/** Reported at startup: otherwise the first person to sign in would find an incomplete configuration. */
export function oidcProblems(env: Env): readonly string[] {
  const given = Object.keys(oidcVariables).filter((name) => env[name] !== undefined);
  if (given.length === 0) return [];
  const missing = needed.filter((name) => env[name] === undefined);
  const hasRoles = ['ADMINS', 'SUBMITTERS', 'VIEWERS'].some(
    (name) => env[`SIGNALBOX_OIDC_${name}`] !== undefined,
  );
  return [
    ...missing.map(
      (name) => `${name}: set it too, or remove every variable that starts with SIGNALBOX_OIDC_`,
    ),
    ...(hasRoles
      ? []
      : [
          'SIGNALBOX_OIDC_ADMINS, SIGNALBOX_OIDC_SUBMITTERS, SIGNALBOX_OIDC_VIEWERS: set at least one of them, otherwise no one can sign in',
        ]),
  ];
}

/** The variables are valid. */
export function buildOidcConfig(parsed: ParsedOidcVariables): OidcConfig | null {
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
