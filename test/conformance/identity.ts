/** The identity of a test case, computed anew from the contract: UUIDv5 over parts joined by `#`. */
import { createHash } from 'node:crypto';
import type { Repo } from './world.ts';

export type TestName = {
  readonly name: string;
  readonly variant?: string;
  readonly file?: string;
  readonly classname?: string;
  readonly parent?: string;
};

/** The namespace for addresses of RFC 9562. */
const URL_NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

function hashParts(parts: readonly string[]): string {
  const digest = createHash('sha1').update(URL_NAMESPACE).update(parts.join('#')).digest().subarray(0, 16);
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function computeTestId(org: string, repo: Repo, test: TestName): string {
  const { name, variant = '', file = '', classname = '', parent = '' } = test;
  const repository = `${repo.host}/${repo.owner}/${repo.name}`;
  const parts = [org, repository, file, classname, parent, name, 'JUNIT_TESTCASE'];
  return variant === '' ? hashParts(parts) : hashParts([hashParts([...parts, variant]), variant]);
}
