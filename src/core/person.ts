// A person who signed in at an identity provider: what the provider's claims make of them here. The values of one claim
// give the role, the highest of those they name; who has none of them may not come in.

export const roles = ['viewer', 'submitter', 'admin'] as const;
export type Role = (typeof roles)[number];

export const scopesOfRole = {
  viewer: ['read'],
  submitter: ['read', 'submit'],
  admin: ['read', 'submit', 'admin'],
} as const satisfies Record<Role, readonly string[]>;

/** What a provider says of somebody; none of it is of a known form. */
export type Claims = Readonly<Record<string, unknown>>;

export type RoleRules = {
  /** The claim whose values are looked at, for example `groups`. */
  readonly claim: string;
  /** Values that give a role; `*` is everybody who can sign in at the provider. */
  readonly values: Readonly<Record<Role, readonly string[]>>;
};

/** A claim is one text, or a list of them. */
function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((each) => typeof each === 'string');
}

/** Null: no role, so no entrance. */
export function roleFrom(claims: Claims, { claim, values }: RoleRules): Role | null {
  // At some providers people write what they like there, and only what was verified is theirs.
  const isBelieved = claim !== 'email' || claims['email_verified'] === true;
  const held = isBelieved ? valuesOf(claims, claim) : [];
  const gives = (role: Role) =>
    values[role].some((value) => value === '*' || held.some((each) => each === value));
  return roles.findLast(gives) ?? null;
}

/** Longest name; what comes after it tells people of the same name apart. */
const nameLengthMax = 64;

const nameClaims = ['preferred_username', 'email', 'name', 'sub'] as const;

/** What a person is called in timelines and in the audit log, as far as it is free: bounded, in one line, never empty. */
export function nameFrom(claims: Claims): string {
  for (const claim of nameClaims)
    for (const text of valuesOf(claims, claim)) {
      const name = text
        .normalize('NFKC')
        .replaceAll(/[\s\p{C}]+/gu, ' ')
        .trim();
      if (name !== '') return Array.from(name).slice(0, nameLengthMax).join('').trim();
    }
  return 'somebody';
}
