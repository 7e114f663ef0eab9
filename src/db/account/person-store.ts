// Writes person. A person keeps the name of the first sign-in: a provider may later give a user name to
// another person, and the audit log must not.

import { v7 as newId } from 'uuid';
import type { OrganizationId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  /** What they want to be called. */
  readonly name: string;
};

const touchPerson = statement<[organizationId: string, issuer: string, subject: string], { id: string }>(`
  update person set signed_in_at = now() where organization_id = $1 and issuer = $2 and subject = $3 returning id`);

// A conflict inserts no row: a concurrent sign-in stored the same person, or another person has the name.
const insertPerson = statement<
  [id: string, organizationId: string, issuer: string, subject: string, name: string],
  { id: string }
>(`
  insert into person (id, organization_id, issuer, subject, name) values ($1, $2, $3, $4, $5)
  on conflict do nothing returning id`);

/** Up to this many people with the same name get a number; further ones get digits of their id. */
const numberedMax = 9;

/** Returns the id of the person, and stores the person if unknown. `ana` may become `ana (2)`. */
export async function ensurePerson(
  db: Tx,
  organizationId: OrganizationId,
  { issuer, subject, name }: Identity,
): Promise<string> {
  const id = newId();
  for (let number = 1; number <= numberedMax + 1; number += 1) {
    const [known] = await touchPerson(db, organizationId, issuer, subject);
    if (known !== undefined) return known.id;
    const mark = number > numberedMax ? id.slice(-12) : number;
    const free = number === 1 ? name : `${name} (${mark})`;
    const [made] = await insertPerson(db, id, organizationId, issuer, subject, free);
    if (made !== undefined) return made.id;
  }
  throw new Error('no name is free for a person');
}
