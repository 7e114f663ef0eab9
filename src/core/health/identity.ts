// Which test is this? A UUID (version 5, URL namespace) over what names a test, so that every upload of the same test
// finds the same row, and so that uploaders and the service agree without asking each other. The hash is passed in:
// core computes nothing with a package.

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
