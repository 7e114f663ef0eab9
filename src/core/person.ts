// A person who signed in at an identity provider, and what the provider's claims grant. The values of one
// claim give the role, the highest of those they name; a person with none of these values is refused.

export const roles = ['viewer', 'submitter', 'admin'] as const;
export type Role = (typeof roles)[number];

export const scopesOfRole = {
  viewer: ['read'],
  submitter: ['read', 'submit'],
  admin: ['read', 'submit', 'admin'],
} as const satisfies Record<Role, readonly string[]>;

/** The claims of a provider about a person; no value has a known form. */
export type Claims = Readonly<Record<string, unknown>>;

export type RoleRules = {
  /** The claim whose values are read, for example `groups`. */
  readonly claim: string;
  /** Values that give a role; `*` is every person who can sign in at the provider. */
  readonly values: Readonly<Record<Role, readonly string[]>>;
};

/** A claim is one string, or a list of them. */
function readClaimValues(claims: Claims, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((each) => typeof each === 'string');
}

/** Null: no role, so no access. */
export function roleFrom(claims: Claims, { claim, values }: RoleRules): Role | null {
  // Some providers let people enter any email address; only a verified one counts.
  const isBelieved = claim !== 'email' || claims['email_verified'] === true;
  const held = isBelieved ? readClaimValues(claims, claim) : [];
  const gives = (role: Role) =>
    values[role].some((value) => value === '*' || held.some((each) => each === value));
  return roles.findLast(gives) ?? null;
}

/** Longest name; the suffix after it distinguishes people of the same name. */
const nameLengthMax = 64;

const nameClaims = ['preferred_username', 'email', 'name', 'sub'] as const;

/** A person's name in timelines and in the audit log, if not taken: bounded, on one line, never empty. */
export function nameFrom(claims: Claims): string {
  for (const claim of nameClaims)
    for (const text of readClaimValues(claims, claim)) {
      const name = text
        .normalize('NFKC')
        .replaceAll(/[\s\p{C}]+/gu, ' ')
        .trim();
      if (name !== '') return Array.from(name).slice(0, nameLengthMax).join('').trim();
    }
  return 'unnamed user';
}
