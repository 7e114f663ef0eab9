// Where the bytes of uploads are kept. Small installations keep them in PostgreSQL (db/health/blob-store.ts); any S3-compatible
// store by configuration (s3.ts).

/** An upload's place; the same upload has the same key everywhere. */
export type BlobKey = { readonly uploadId: string; readonly uploadedAt: Date };

export type BlobStore = {
  /** Stores all of it or nothing: what cannot be read to its end is not there afterwards. Written twice, the last counts. */
  readonly write: (key: BlobKey, bytes: AsyncIterable<Uint8Array>) => Promise<void>;
  /** Null: there is none. */
  readonly read: (key: BlobKey) => Promise<AsyncIterable<Uint8Array> | null>;
};
