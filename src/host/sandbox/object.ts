// Git objects, created in memory: a made-up pull request has the sha of a commit that can be fetched later,
// without access to the disk or a git process.

import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { commitBytes, buildCommitContent, hashed, type ObjectType, type Person } from '#git/object.ts';

export type GitObject = { readonly type: ObjectType; readonly sha: string; readonly body: Buffer };

type TreeEntry = {
  readonly mode: '100644' | '100755' | '40000';
  readonly name: string;
  readonly sha: string;
};

const gitObject = (type: ObjectType, body: Buffer): GitObject => ({
  type,
  sha: hashed(type, body).sha,
  body,
});

export const encodeBlob = (text: string): GitObject => gitObject('blob', Buffer.from(text));

/** Git sorts a folder as if its name ended with a slash. */
const sortKey = ({ mode, name }: TreeEntry): string => (mode === '40000' ? `${name}/` : name);

export function encodeTree(entries: readonly TreeEntry[]): GitObject {
  const sorted = entries.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const parts = sorted.flatMap(({ mode, name, sha }) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(sha, 'hex'),
  ]);
  return gitObject('tree', Buffer.concat(parts));
}

/** The author is also the committer. */
export function encodeCommit(
  tree: GitObject,
  parents: readonly string[],
  author: Person,
  at: Date,
  message: string,
): GitObject {
  const commitContent = buildCommitContent(author, at, `${message}\n`);
  return gitObject('commit', commitBytes(tree.sha, parents, commitContent.author, commitContent));
}

const packTypes: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 };

/** Type and length of a packed object: four bits of the length in the first byte, seven in each that follows. */
function packHead({ type, body }: GitObject): Buffer {
  const bytes: number[] = [];
  let rest = Math.floor(body.length / 16);
  let byte = (packTypes[type] << 4) | (body.length % 16);
  while (rest > 0) {
    bytes.push(byte | 0x80);
    byte = rest % 128;
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, byte]);
}

/** A pack file of whole objects. */
export function encodePack(objects: readonly GitObject[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const packed = objects.flatMap((object) => [packHead(object), deflateSync(object.body, { level: 1 })]);
  const content = Buffer.concat([head, ...packed]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}
