// What lets us into hosts is kept sealed: AES-256-GCM with a key that is not in the database, bound to the row it is for.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/**
 * The first key encrypts. All of them decrypt, so that the key can be replaced while processes with the old one and with the
 * new one run beside each other. A key without predecessors may be given alone.
 */
export type SecretKey = Buffer | readonly [active: Buffer, ...previous: Buffer[]];

export const keysOf = (key: SecretKey): readonly [Buffer, ...Buffer[]] =>
  Buffer.isBuffer(key) ? [key] : key;

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** `owner`: what the sealed bytes belong to; they open nowhere else. */
export function seal(key: SecretKey, owner: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', keysOf(key)[0], nonce).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), sealed]);
}

/** Null if it was sealed with none of the keys, for another owner, or is not whole. */
export function unseal(key: SecretKey, owner: string, bytes: Buffer): string | null {
  for (const one of keysOf(key)) {
    const text = unsealWith(one, owner, bytes);
    if (text !== null) return text;
  }
  return null;
}

// Which key it was is not written down: the tag of GCM fits one of them, and there are a few.
function unsealWith(key: Buffer, owner: string, bytes: Buffer): string | null {
  if (bytes.length < 1 + nonceBytes + tagBytes || bytes[0] !== version) return null;
  const nonce = bytes.subarray(1, 1 + nonceBytes);
  const tag = bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner)).setAuthTag(tag);
  try {
    const opened = [decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()];
    return Buffer.concat(opened).toString('utf8');
  } catch {
    return null;
  }
}
