// The id of a case in a report: that of core/health/identity.ts, on the hot path of ingest, as a digest that
// is not yet formatted as a UUID. A digest is a string with one character for each byte: it costs half as
// much as a buffer.
//
// A version 5 UUID that the report gives as the test's own id is used as it is, so that a moved test keeps
// its history if the runner keeps the id; each variant is a separate test.

import { hash } from 'node:crypto';
import type { CaseContext } from '#core/health/identity.ts';
import type { ReportedCase } from '#core/health/reported-case.ts';
import { stableName } from '#core/health/stable-name.ts';

type CaseIdentityFields = Pick<ReportedCase, 'name' | 'classname' | 'parent' | 'file' | 'ownId' | 'variant'>;

/** RFC 9562: names that are URLs. */
const urlNamespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/** Texts up to this size are hashed in place; longer ones are rare and get their own buffer. */
const scratchBytes = 16_384;

/** A SHA-1 whose first 16 bytes form a version 5 UUID, or such a UUID: one character for each byte. */
export type Digest = string;

const digestBytes = (bytes: Buffer): Digest => hash('sha1', bytes, 'binary');

const digestOfText = (text: string): Digest => digestBytes(Buffer.concat([urlNamespace, Buffer.from(text)]));

/** The UUID in its text form. */
export function uuidText(digest: Digest): string {
  const bytes = Buffer.from(digest, 'latin1');
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function createIdentifier(context: CaseContext): (found: CaseIdentityFields) => Digest {
  const { host, owner, name } = context.repository;
  const prefix = Buffer.from(`${context.organizationSlug}#${host}/${owner}/${name}#`);
  const scratch = Buffer.alloc(scratchBytes);
  urlNamespace.copy(scratch);
  prefix.copy(scratch, urlNamespace.length);
  const start = urlNamespace.length + prefix.length;

  const digestWithPrefix = (rest: string): Digest => {
    // A UTF-16 code unit takes at most three bytes.
    if (rest.length * 3 <= scratchBytes - start) {
      const end = start + scratch.write(rest, start);
      return digestBytes(scratch.subarray(0, end));
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
    if (variant === '') return digestWithPrefix(rest);
    return digestOfText(`${uuidText(digestWithPrefix(`${rest}#${variant}`))}#${variant}`);
  };
}

/**
 * Identifies the cases of one upload by the stable parts of their names. A test that is known by its full name keeps it, and
 * of two cases that differ only in what is masked the second keeps its full name.
 */
export function createStableIdentifier(
  identify: (found: CaseIdentityFields) => Digest,
  isKnown: (id: Digest) => boolean,
): (found: CaseIdentityFields) => { readonly id: Digest; readonly name: string } {
  const claimed = new Map<Digest, string>();
  return (found) => {
    const full = { id: identify(found), name: found.name };
    const name = found.ownId === null ? stableName(found.name) : found.name;
    if (name === found.name || isKnown(full.id)) return full;
    const id = identify({ ...found, name });
    const owner = claimed.get(id) ?? found.name;
    claimed.set(id, owner);
    return owner === found.name ? { id, name } : full;
  };
}
