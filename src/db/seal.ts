// Encrypts host credentials: AES-256-GCM with a key outside the database, bound to the row they belong to.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/**
 * The first key encrypts. All of them decrypt, so that the key can be replaced while processes with the old
 * key and with the new key run side by side. A key without predecessors may be given alone.
 */
export type SecretKey = Buffer | readonly [active: Buffer, ...previous: Buffer[]];

export const listSecretKeys = (key: SecretKey): readonly [Buffer, ...Buffer[]] =>
  Buffer.isBuffer(key) ? [key] : key;

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** `owner`: what the encrypted bytes belong to; they decrypt for no other owner. */
export function seal(key: SecretKey, owner: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', listSecretKeys(key)[0], nonce).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), sealed]);
}

/** Null if the bytes were encrypted with none of the keys, belong to another owner, or are incomplete. */
export function unseal(key: SecretKey, owner: string, bytes: Buffer): string | null {
  for (const one of listSecretKeys(key)) {
    const text = unsealWith(one, owner, bytes);
    if (text !== null) return text;
  }
  return null;
}

// The bytes do not name their key: there are only a few, and the GCM tag matches one of them.
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
