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
    ['https://bucket', 'must be a URL like'],
    ['uploads', 'must be a URL like'],
    ['s3://', 'must have a valid bucket name'],
    ['s3://UPPER_CASE', 'must have a valid bucket name'],
    ['s3://key:secret@uploads', 'must not contain keys'],
    ['s3://uploads?acl=public', 'must not have the parameter acl'],
    ['s3://uploads/a%20b', 'must have a prefix'],
    ['s3://uploads?endpoint=minio:9000', 'must have an http or https URL as its endpoint'],
    ['s3://uploads?endpoint=http://a:b@minio', 'must have an http or https URL as its endpoint'],
    ['s3://uploads?region=', 'must have a valid region'],
    ['s3://uploads?path-style=yes', 'must have true or false as its path-style'],
  ])('%s is refused', (text, problem) => {
    expect(parseBlobUrl(text)).toContain(problem);
  });
});
