import { describe, expect, it } from 'vitest';
import { parseBlobUrl } from './blob-url.ts';

describe('the address of a store', () => {
  it('of Amazon needs a bucket only', () => {
    expect(parseBlobUrl('s3://my-uploads')).toEqual({
      bucket: 'my-uploads',
      prefix: '',
      endpoint: null,
      region: null,
      forcePathStyle: false,
    });
  });

  it('of another has its endpoint, with the bucket in the path unless it says otherwise', () => {
    const address = 's3://uploads/team/ci/?endpoint=http://minio:9000';
    expect(parseBlobUrl(address)).toEqual({
      bucket: 'uploads',
      prefix: 'team/ci',
      endpoint: 'http://minio:9000',
      region: 'us-east-1',
      forcePathStyle: true,
    });
    expect(parseBlobUrl(`${address}&region=eu-1&path-style=false`)).toMatchObject({
      region: 'eu-1',
      forcePathStyle: false,
    });
  });

  it.each([
    ['https://bucket', 'must be an address like'],
    ['uploads', 'must be an address like'],
    ['s3://', 'names no bucket'],
    ['s3://UPPER_CASE', 'names no bucket'],
    ['s3://key:secret@uploads', 'must not hold keys'],
    ['s3://uploads?acl=public', 'has no part acl'],
    ['s3://uploads/a%20b', 'may have a prefix'],
    ['s3://uploads?endpoint=minio:9000', 'has an endpoint that is no'],
    ['s3://uploads?endpoint=http://a:b@minio', 'has an endpoint that is no'],
    ['s3://uploads?region=', 'has a region that is none'],
    ['s3://uploads?path-style=yes', 'has a path-style that is not'],
  ])('%s is refused', (text, problem) => {
    expect(parseBlobUrl(text)).toContain(problem);
  });
});
