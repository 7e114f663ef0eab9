// An S3-compatible server on loopback, for tests: its own folder, its own port, a bucket, and nothing left at the end.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { S3Options } from '#blob/s3.ts';
import { freePort } from '../../script/free-port.ts';
import { eventually, startDaemon } from '../gitea/process.ts';
import { s3Folder } from './build.ts';

export type S3Server = {
  /** How the bucket is reached. */
  readonly options: S3Options;
  /** Names of what the bucket holds. */
  readonly names: () => Promise<readonly string[]>;
  /** Names of what is being uploaded in parts. */
  readonly unfinished: () => Promise<readonly string[]>;
  /** Without the bucket. */
  readonly stop: () => Promise<void>;
};

const bucket = 'uploads';

export async function startS3(): Promise<S3Server> {
  const binary = join(s3Folder(), 'versitygw');
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-s3-'));
  const data = join(folder, 'data');
  const sidecar = join(folder, 'sidecar');
  await mkdir(join(data, bucket), { recursive: true });
  await mkdir(sidecar);
  const port = await freePort();
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-access-key' };
  const daemon = startDaemon(
    binary,
    // Beside the files, not in their attributes: not every file system of a temporary folder has them.
    ['--quiet', '--port', `127.0.0.1:${port}`, '--keep-alive', 'posix', '--sidecar', sidecar, data],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        ROOT_ACCESS_KEY: credentials.accessKeyId,
        ROOT_SECRET_KEY: credentials.secretAccessKey,
      },
      logFile: join(folder, 'server.log'),
      patienceMs: 5_000,
    },
  );
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  const stop = async () => {
    client.destroy();
    await daemon.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually('the S3 server answers', async () => {
      if (!daemon.running()) throw new Error(`The S3 server has ended:\n${daemon.output()}`);
      return fetch(endpoint).then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    options: { bucket, prefix: 'ci', endpoint, region: 'us-east-1', forcePathStyle: true, credentials },
    names: async () =>
      (await client.send(new ListObjectsV2Command({ Bucket: bucket }))).Contents?.map(
        ({ Key }) => Key ?? '',
      ) ?? [],
    unfinished: async () =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.map(
        ({ Key }) => Key ?? '',
      ) ?? [],
    stop,
  };
}
