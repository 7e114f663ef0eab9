// The first fetch of a large repository through a link of 5 MB/s that is interrupted twice: once the link is cut, once the
// process is killed. It must complete, and must not begin again each time. The Git host is one that cannot leave files out,
// so that everything comes over the link; beside it, the same repository from one that can.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultPace } from '#git/mirror/first-fetch.ts';
import { bytesIn } from '#job/mirror-disk.ts';
import { openSlowLink, type SlowLink } from '../../support/slow-link.ts';
import { goal } from '../figure.ts';
import { type Cleanup, root, temporaryDir } from '../fixture.ts';
import { git, makeRepository, repositoryIn, serve } from './git-world.ts';
import type { Part } from './part.ts';

const bytesPerSecond = 5_000_000;
const bytesPerCommit = 250_000;
const full = 2_000_000_000;
/** Of the full size, and of its pace: a tenth of both behaves like the whole. */
const share = 0.1;

export const fetchPart: Part = {
  name: 'fetch',
  measure: async (cleanup, isFull) => {
    const folder = temporaryDir(cleanup, 'signalbox-bench-fetch-');
    const scale = isFull ? 1 : share;
    const commits = Math.ceil((full * scale * 1.02) / bytesPerCommit);
    const remote = repositoryIn(folder, 'remote.git');
    const tip = await makeRepository(remote, { commits, bytesPerCommit, files: 16 });
    const { port } = await serve(cleanup, folder);
    const link = await openSlowLink(port, bytesPerSecond);
    cleanup.add(link.close);
    const size = commits * bytesPerCommit;
    const pace = {
      patienceMs: defaultPace.patienceMs * scale,
      observeMs: defaultPace.observeMs * scale,
      stageMs: defaultPace.stageMs * scale,
    };
    const url = `http://127.0.0.1:${link.port}/remote.git`;
    const whole = join(folder, 'whole.git');
    const fetched = await fetchInterrupted(cleanup, { link, size, args: [whole, url, JSON.stringify(pace)] });
    const onDisk = await bytesIn(whole);
    const isSound =
      fetched.tip === tip &&
      !existsSync(join(whole, 'shallow')) &&
      git(whole, 'rev-list', '--count', tip) === String(commits) &&
      !/missing|broken/.test(git(whole, 'fsck', '--connectivity-only'));
    git(remote, 'config', 'uploadpack.allowFilter', 'true');
    const partial = await fetchOnce(cleanup, link, [join(folder, 'partial.git'), url, JSON.stringify(pace)]);
    const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(1);
    return {
      lines: [
        isFull
          ? `full size: ${megabytes(size)} MB in ${commits} commits at 5 MB/s`
          : `${megabytes(size)} MB in ${commits} commits at 5 MB/s: a tenth of the size that is meant, with stages of a tenth; --full takes ${megabytes(full)} MB and some 10 minutes`,
        `link cut after ${megabytes(fetched.cutAt)} MB, process killed after ${megabytes(fetched.killedAt)} MB`,
        `complete after ${fetched.seconds.toFixed(0)} s and ${megabytes(fetched.bytes)} MB over the link; ${megabytes(onDisk)} MB on disk`,
        `from a Git host that leaves files out: ready after ${partial.seconds.toFixed(1)} s and ${megabytes(partial.bytes)} MB`,
      ],
      goals: [
        goal('interrupted twice, complete and sound', isSound ? 1 : 0, '>=', 1),
        goal('size of the mirror, GB', onDisk / 1_000_000_000, '>=', (full * scale) / 1_000_000_000),
        goal('bytes over the link, ratio to the size', fetched.bytes / size, '<=', 1.5),
        goal('partial clone, bytes, ratio to the size', partial.bytes / size, '<=', 0.05),
      ],
    };
  },
};

const patienceMs = 3_600_000;

function startFetch(cleanup: Cleanup, args: readonly string[]): ChildProcess {
  const program = join(root, 'test/bench/sizes/fetch-program.ts');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  cleanup.add(() => child.kill('SIGKILL'));
  return child;
}

async function tipFrom(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return output.trim();
}

async function until(link: SlowLink, bytes: number): Promise<number> {
  for (const startedAt = Date.now(); link.received() < bytes; await sleep(20))
    if (Date.now() - startedAt > patienceMs) throw new Error(`The link did not carry ${bytes} bytes.`);
  return link.received();
}

type Interrupted = { readonly link: SlowLink; readonly size: number; readonly args: readonly string[] };

async function fetchInterrupted(cleanup: Cleanup, { link, size, args }: Interrupted) {
  const startedAt = performance.now();
  const first = startFetch(cleanup, args);
  const cutAt = await until(link, size * 0.4);
  link.cut();
  const killedAt = await until(link, size * 0.75);
  first.kill('SIGKILL');
  await once(first, 'close');
  const tip = await tipFrom(startFetch(cleanup, args));
  return { tip, cutAt, killedAt, bytes: link.received(), seconds: (performance.now() - startedAt) / 1_000 };
}

async function fetchOnce(cleanup: Cleanup, link: SlowLink, args: readonly string[]) {
  const before = link.received();
  const startedAt = performance.now();
  await tipFrom(startFetch(cleanup, args));
  return { bytes: link.received() - before, seconds: (performance.now() - startedAt) / 1_000 };
}
