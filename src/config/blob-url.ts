// The store of uploads, as one URL:
// s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1&path-style=true. Credentials are never part
// of the URL, because it is shown and copied.

import { withoutTrailing } from '#base/text.ts';

export type BlobAddress = {
  readonly bucket: string;
  /** Prefix of every name, without slashes around it; empty: none. */
  readonly prefix: string;
  /** Null: Amazon's own, by the region. */
  readonly endpoint: string | null;
  /** Null: taken from the client's own settings (`AWS_REGION`, a profile). */
  readonly region: string | null;
  /** Whether the bucket is in the path of a URL, or else in its host name. */
  readonly forcePathStyle: boolean;
};

const known = new Set(['endpoint', 'region', 'path-style']);

/** Returns the parsed URL, or the problem with it. */
export function parseBlobUrl(text: string): BlobAddress | string {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 's3:')
    return 'must be a URL like s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1';
  if (url.username !== '' || url.password !== '')
    return 'must not contain keys: set SIGNALBOX_BLOB_ACCESS_KEY_ID and SIGNALBOX_BLOB_SECRET_ACCESS_KEY';
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host)) return 'must have a valid bucket name';
  const unknown = [...url.searchParams.keys()].find((name) => !known.has(name));
  if (unknown !== undefined)
    return `must not have the parameter ${unknown}: use endpoint, region and path-style`;
  const prefix = withoutTrailing(url.pathname, '/').replace(/^\/+/, '');
  if (!/^[A-Za-z0-9/_.-]{0,256}$/.test(prefix))
    return 'must have a prefix of letters, digits, / _ . and - only';
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint !== null && !isPlainHttp(endpoint)) return 'must have an http or https URL as its endpoint';
  const region = url.searchParams.get('region');
  if (region !== null && !/^[A-Za-z0-9-]{1,64}$/.test(region)) return 'must have a valid region';
  const pathStyle = url.searchParams.get('path-style');
  if (pathStyle !== null && !/^(?:true|false)$/.test(pathStyle))
    return 'must have true or false as its path-style';
  return {
    bucket: url.host,
    prefix,
    endpoint,
    // Stores other than Amazon's require a region and seldom use it.
    region: region ?? (endpoint === null ? null : 'us-east-1'),
    // Few of them have a host name for every bucket.
    forcePathStyle: pathStyle === null ? endpoint !== null : pathStyle === 'true',
  };
}

function isPlainHttp(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '';
}
