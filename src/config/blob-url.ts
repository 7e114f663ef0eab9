// Where uploads are kept, as one address: s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1&path-style=true.
// Keys that open it never stand in the address, which is shown and copied.

import { withoutTrailing } from '#base/text.ts';

export type BlobAddress = {
  readonly bucket: string;
  /** In front of every name, without slashes around it; empty: nothing. */
  readonly prefix: string;
  /** Null: Amazon's own, by the region. */
  readonly endpoint: string | null;
  /** Null: where the client's own settings say (`AWS_REGION`, a profile). */
  readonly region: string | null;
  /** Whether the bucket is in the path of an address, or else in its host name. */
  readonly forcePathStyle: boolean;
};

const known = new Set(['endpoint', 'region', 'path-style']);

/** Or what is wrong with it. */
export function parseBlobUrl(text: string): BlobAddress | string {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 's3:')
    return 'must be an address like s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1';
  if (url.username !== '' || url.password !== '')
    return 'must not hold keys: they are SIGNALBOX_BLOB_ACCESS_KEY_ID and SIGNALBOX_BLOB_SECRET_ACCESS_KEY';
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host)) return 'names no bucket that there can be';
  const unknown = [...url.searchParams.keys()].find((name) => !known.has(name));
  if (unknown !== undefined) return `has no part ${unknown}: there are endpoint, region and path-style`;
  const prefix = withoutTrailing(url.pathname, '/').replace(/^\/+/, '');
  if (!/^[A-Za-z0-9/_.-]{0,256}$/.test(prefix))
    return 'may have a prefix of letters, digits, / _ . and - only';
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint !== null && !isPlainHttp(endpoint)) return 'has an endpoint that is no http or https address';
  const region = url.searchParams.get('region');
  if (region !== null && !/^[A-Za-z0-9-]{1,64}$/.test(region)) return 'has a region that is none';
  const pathStyle = url.searchParams.get('path-style');
  if (pathStyle !== null && !/^(?:true|false)$/.test(pathStyle))
    return 'has a path-style that is not true or false';
  return {
    bucket: url.host,
    prefix,
    endpoint,
    // Stores other than Amazon's ask for one that they seldom look at.
    region: region ?? (endpoint === null ? null : 'us-east-1'),
    // Few of them have a host name for every bucket.
    forcePathStyle: pathStyle === null ? endpoint !== null : pathStyle === 'true',
  };
}

function isPlainHttp(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '';
}
