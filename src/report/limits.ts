// Limits of a report. What exceeds a limit is cut or left out and reported as a problem; no report is refused
// as a whole because a part of it is too large.

export type ReportLimits = {
  /** Of all failure texts of one case together, in bytes; beginning and end are kept. */
  readonly textBytesMax: number;
  /** Of one attribute, in bytes; the beginning is kept. */
  readonly attributeBytesMax: number;
  /** Of a name, class name, suite or file, in characters; a longer one keeps its beginning and a hash of all of it. */
  readonly nameLengthMax: number;
  /** Nesting of elements. */
  readonly depthMax: number;
  /** Per report. */
  readonly casesMax: number;
};

export const defaultReportLimits: ReportLimits = {
  textBytesMax: 64 * 1024,
  attributeBytesMax: 64 * 1024,
  nameLengthMax: 1_000,
  depthMax: 64,
  casesMax: 5_000_000,
};

export type ContentLimits = ReportLimits & {
  /** Of everything after decompression. */
  readonly bytesMax: number;
  /**
   * Decompressed to compressed bytes, after the first MiB. zstd finds repetitions over megabytes: a bundle of
   * Maven's reports, each with the same properties, has 330, and zstd bombs have 10,000 and more.
   */
  readonly ratioMax: { readonly gzip: number; readonly zstd: number };
  /** Of `meta.json`. */
  readonly metaBytesMax: number;
  /** Of `CODEOWNERS`. */
  readonly codeownersBytesMax: number;
  /** Entries of a bundle. */
  readonly entriesMax: number;
};

export const defaultContentLimits: ContentLimits = {
  ...defaultReportLimits,
  bytesMax: 512 * 1024 * 1024,
  ratioMax: { gzip: 200, zstd: 1_000 },
  metaBytesMax: 8 * 1024 * 1024,
  codeownersBytesMax: 3 * 1024 * 1024,
  entriesMax: 100_000,
};
