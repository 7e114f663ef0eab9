// Which test is this? A UUID (version 5, URL namespace) over what names a test, so that every upload of the same test
// finds the same row, and so that uploaders and the service agree without asking each other. The hash is passed in:
// core computes nothing with a package.

import type { RepositoryName } from '../repository.ts';
import type { ReportedCase } from './reported-case.ts';

export type TestIdentity = {
  readonly organizationSlug: string;
  readonly repository: RepositoryName;
  readonly file: string;
  readonly classname: string;
  /** The suite's name. */
  readonly parent: string;
  readonly name: string;
  /** Empty when there is none. */
  readonly variant: string;
};

/** A version 5 UUID in the URL namespace over a text. */
export type UuidOf = (text: string) => string;

export function testCaseId(identity: TestIdentity, uuidOf: UuidOf): string {
  const { organizationSlug, repository, file, classname, parent, name, variant } = identity;
  const place = `${repository.host}/${repository.owner}/${repository.name}`;
  const parts = [organizationSlug, place, file, classname, parent, name, 'JUNIT_TESTCASE'];
  if (variant === '') return uuidOf(parts.join('#'));
  return uuidOf([uuidOf([...parts, variant].join('#')), variant].join('#'));
}

/** What an upload says beside its report. */
export type CaseContext = {
  readonly organizationSlug: string;
  readonly repository: RepositoryName;
  /** Of the upload; empty: what the report itself says of it. */
  readonly variant: string;
};

export type CaseIdentity = { readonly id: string; readonly variant: string };

/**
 * The id of a case in a report. A version 5 UUID that the report gives as the test's own id is taken as it is, so that
 * a test that moved keeps its history where the runner sees to that; a variant makes another test of it.
 */
export function caseIdentity(
  found: Pick<ReportedCase, 'name' | 'classname' | 'parent' | 'file' | 'ownId' | 'variant'>,
  context: CaseContext,
  uuidOf: UuidOf,
): CaseIdentity {
  const { name, classname, parent, file, ownId } = found;
  const { organizationSlug, repository } = context;
  const variant = context.variant === '' ? found.variant : context.variant;
  if (ownId === null) {
    const identity = { organizationSlug, repository, file, classname, parent, name, variant };
    return { id: testCaseId(identity, uuidOf), variant };
  }
  const own = ownId.toLowerCase();
  return { id: variant === '' ? own : uuidOf(`${own}#${variant}`), variant };
}
