// The id of a test: a UUID (version 5, URL namespace) over its names, so that every upload of the same test
// finds the same row, and uploaders and the service compute the same id independently. The hash is passed in:
// core uses no packages.

import type { RepositoryName } from '../repository.ts';

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

/** What identifies the cases of an upload in addition to its report. */
export type CaseContext = {
  readonly organizationSlug: string;
  readonly repository: RepositoryName;
  /** The variant of the upload; empty: the report's own is used. */
  readonly variant: string;
};
