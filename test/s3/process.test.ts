import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';
import { runMain, startProcess } from '../support/server-process.ts';
import { type S3Server, startS3 } from './server.ts';

const token = 'fake-token-for-tests-0123';
const bootstrap = { SIGNALBOX_BOOTSTRAP_ORG: 'acme', SIGNALBOX_BOOTSTRAP_TOKEN: token };
const report = '<testsuite name="s"><testcase classname="c" name="adds" time="0.1"/></testsuite>';
const address =
  '/v1/flaky-tests/upload?repo=github.com/acme/widgets&org_url_slug=acme&sha=0123456789abcdef0123456789abcdef01234567&branch=main';

describe('the process with an S3-compatible store', () => {
  let s3: S3Server;
  let database: string;
  let url: string;
  const environment = (): Record<string, string> => ({
    ...bootstrap,
    SIGNALBOX_BLOB_URL: `s3://${s3.options.bucket}/ci?endpoint=${s3.options.endpoint}`,
    SIGNALBOX_BLOB_ACCESS_KEY_ID: s3.options.credentials?.accessKeyId ?? '',
    SIGNALBOX_BLOB_SECRET_ACCESS_KEY: s3.options.credentials?.secretAccessKey ?? '',
  });
  beforeAll(async () => {
    s3 = await startS3();
    database = await createDatabase();
    url = databaseUrl(database);
  });
  afterAll(async () => {
    await s3.stop();
    await dropDatabase(database);
  });

  it('keeps the bytes of an upload there and not in the database, and tells no key', async () => {
    const server = await startProcess('serve', url, environment());
    try {
      const headers = { 'x-api-token': token, 'content-type': 'application/xml' };
      const answer = await fetch(`${server.url}${address}`, { method: 'POST', headers, body: report });
      expect(answer.status).toBe(200);
      const { upload_id: id } = (await answer.json()) as { upload_id: string };
      expect(await s3.names()).toContainEqual(expect.stringMatching(new RegExp(`^ci/[0-9-]{10}/${id}$`)));
      const client = new Client(url);
      await client.connect();
      const { rows } = await client.query('select 1 from upload_blob');
      await client.end();
      expect(rows).toEqual([]);
    } finally {
      await server.stop();
    }
    expect(server.logs()).toContainEqual(
      expect.objectContaining({ bucket: 'uploads', msg: 'uploads are stored in S3' }),
    );
    expect(JSON.stringify(server.logs())).not.toMatch(/test-(?:access|secret)/);
  });

  it('does not start when the store refuses it, and says why', async () => {
    const wrong = { SIGNALBOX_BLOB_SECRET_ACCESS_KEY: 'not-to-be-told' };
    const { code, stdout, stderr } = await runMain(url, ['serve'], { ...environment(), ...wrong });
    expect(code).toBe(1);
    expect(stderr).toContain('SIGNALBOX_BLOB_URL: the bucket uploads of http://127.0.0.1:');
    expect(stderr).toContain('SignatureDoesNotMatch (403)');
    expect(stdout + stderr).not.toContain('not-to-be-told');
  });

  it('starts when the store is away, and asks for the upload to be sent again', async () => {
    const away = { SIGNALBOX_BLOB_URL: 's3://uploads?endpoint=http://127.0.0.1:9' };
    const server = await startProcess('serve', url, { ...environment(), ...away });
    try {
      expect(server.logs()).toContainEqual(
        expect.objectContaining({ level: 40, msg: 'upload store unreachable' }),
      );
      // Not the bytes of the other test: those are known and not stored again.
      const body = report.replace('adds', 'subtracts');
      const headers = { 'x-api-token': token, 'content-type': 'application/xml' };
      const answer = await fetch(`${server.url}${address}`, { method: 'POST', headers, body });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    } finally {
      await server.stop();
    }
  });
});
