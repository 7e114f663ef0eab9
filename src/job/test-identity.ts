// The id of a case on the hot path of ingest: the same as core/health/identity.ts says, as a digest that is not yet
// written as a UUID. A digest is a text with one character for each byte: such a text costs half of what a buffer does.

import { hash } from 'node:crypto';
import type { CaseContext } from '#core/health/identity.ts';
import type { ReportedCase } from '#core/health/reported-case.ts';

type Named = Pick<ReportedCase, 'name' | 'classname' | 'parent' | 'file' | 'ownId' | 'variant'>;

/** RFC 9562: names that are URLs. */
const urlNamespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/** Text that is hashed in place; longer ones are rare, and get a place of their own. */
const scratchBytes = 16_384;

/** A SHA-1 of which the first 16 bytes make a version 5 UUID, or such a UUID: a character for each byte. */
export type Digest = string;

const digestOf = (bytes: Buffer): Digest => hash('sha1', bytes, 'binary');

const digestOfText = (text: string): Digest => digestOf(Buffer.concat([urlNamespace, Buffer.from(text)]));

/** The UUID, as it is written. */
export function uuidText(digest: Digest): string {
  const bytes = Buffer.from(digest, 'latin1');
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function createIdentifier(context: CaseContext): (found: Named) => Digest {
  const { host, owner, name } = context.repository;
  const prefix = Buffer.from(`${context.organizationSlug}#${host}/${owner}/${name}#`);
  const scratch = Buffer.alloc(scratchBytes);
  urlNamespace.copy(scratch);
  prefix.copy(scratch, urlNamespace.length);
  const start = urlNamespace.length + prefix.length;

  const idOf = (rest: string): Digest => {
    // A character of UTF-16 takes at most three bytes.
    if (rest.length * 3 <= scratchBytes - start) {
      const end = start + scratch.write(rest, start);
      return digestOf(scratch.subarray(0, end));
    }
    return digestOfText(prefix.toString() + rest);
  };

  return (found) => {
    const variant = context.variant === '' ? found.variant : context.variant;
    if (found.ownId !== null)
      return variant === ''
        ? Buffer.from(found.ownId.replaceAll('-', ''), 'hex').toString('latin1')
        : digestOfText(`${found.ownId.toLowerCase()}#${variant}`);
    const rest = `${found.file}#${found.classname}#${found.parent}#${found.name}#JUNIT_TESTCASE`;
    if (variant === '') return idOf(rest);
    return digestOfText(`${uuidText(idOf(`${rest}#${variant}`))}#${variant}`);
  };
}
