// The id of a case as bytes, for the hot path of ingest: the same as core/health/identity.ts, without a text for each.

import { hash } from 'node:crypto';
import type { CaseContext } from '#core/health/identity.ts';
import type { ReportedCase } from '#core/health/reported-case.ts';

type Named = Pick<ReportedCase, 'name' | 'classname' | 'parent' | 'file' | 'ownId' | 'variant'>;

/** RFC 9562: names that are URLs. */
const urlNamespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/** Text that is hashed in place; longer ones are rare, and get a place of their own. */
const scratchBytes = 16_384;

/** Turns a digest into a version 5 UUID, in its first 16 bytes. */
function asUuid(digest: Buffer): Buffer {
  digest[6] = (digest[6]! & 0x0f) | 0x50;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  return digest;
}

function uuidOf(text: string): Buffer {
  return asUuid(hash('sha1', Buffer.concat([urlNamespace, Buffer.from(text)]), 'buffer'));
}

/** As it is written. */
export function uuidText(id: Buffer): string {
  const hex = id.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Answers with a case's id: the first 16 bytes of the buffer. */
export function createIdentifier(context: CaseContext): (found: Named) => Buffer {
  const { host, owner, name } = context.repository;
  const prefix = Buffer.from(`${context.organizationSlug}#${host}/${owner}/${name}#`);
  const scratch = Buffer.alloc(scratchBytes);
  urlNamespace.copy(scratch);
  prefix.copy(scratch, urlNamespace.length);
  const start = urlNamespace.length + prefix.length;

  const idOf = (rest: string): Buffer => {
    // A character of UTF-16 takes at most three bytes.
    if (rest.length * 3 <= scratchBytes - start) {
      const end = start + scratch.write(rest, start);
      return asUuid(hash('sha1', scratch.subarray(0, end), 'buffer'));
    }
    return uuidOf(prefix.toString() + rest);
  };

  return (found) => {
    const variant = context.variant === '' ? found.variant : context.variant;
    if (found.ownId !== null)
      return variant === ''
        ? Buffer.from(found.ownId.replaceAll('-', ''), 'hex')
        : uuidOf(`${found.ownId.toLowerCase()}#${variant}`);
    const rest = `${found.file}#${found.classname}#${found.parent}#${found.name}#JUNIT_TESTCASE`;
    if (variant === '') return idOf(rest);
    return uuidOf(`${uuidText(idOf(`${rest}#${variant}`))}#${variant}`);
  };
}
