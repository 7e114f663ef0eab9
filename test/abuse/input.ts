// What strangers and a hostile tenant send: each input at one, two and four times its size. `send` settles when the service
// has done all its work for it.

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { tarOf } from '../fixture/report/archive.ts';
import { type Caller, createCaller } from './caller.ts';
import { connectedHost, sandboxRepository, type World } from './world.ts';

export type Input = {
  readonly name: string;
  /** Sends it once, at 1, 2 or 4 times its size. */
  readonly send: (times: number) => Promise<void>;
};

const kibi = 1_024;
const repeat = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));
const repo = sandboxRepository('hostile');
const target = { repo, targetBranch: 'main' };

export async function prepare({ tokens, url, query }: World): Promise<void> {
  const hostile = createCaller(url, tokens.hostile);
  await hostile.expect('/sandbox/v1/configureRepository', { repo, ci: { mode: 'manual' } });
  await hostile.expect('/v1/createQueue', {
    ...target,
    mergeMethod: 'squash',
    requiredStatuses: null,
    protectedPaths: [],
  });
  await hostile.expect('/sandbox/v1/createPullRequest', {
    repo,
    pr: { number: 1 },
    title: 'One',
    author: 'mallory',
    files: { 'a.txt': 'a' },
  });
  await hostile.expect('/sandbox/v1/putTestCases', {
    repo,
    testCases: [{ name: 'one', status: 'healthy', quarantineSetting: 'AUTO_QUARANTINE' }],
  });
  await query(`insert into test_case (repository_id, id, name, file_path, classname)
    select r.id, gen_random_uuid(), 'a test with a long name ' || g || ' ' || repeat('x', 120),
      'src/some/folder/file' || g || '.test.ts', 'Some.Class' || g
    from repository r, generate_series(1, 60000) g where r.owner = 'hostile' and r.name = 'widgets'`);
}

/** `signal`: when it is aborted, what is under way ends with an error. */
export function inputsOf({ url, tokens }: World, signal?: AbortSignal): readonly Input[] {
  const hostile = createCaller(url, tokens.hostile, signal);
  const stranger = createCaller(url, tokens.upload, signal);
  return [
    ...comments(hostile),
    ...pullRequests(hostile),
    ...bundles(hostile, stranger),
    ...reports(stranger),
    ...bodies(hostile),
  ];
}

function comments(hostile: Caller): readonly Input[] {
  const comment = (text: string) =>
    hostile.expect('/sandbox/v1/writeComment', { repo, pr: { number: 1 }, author: 'mallory', text });
  return [
    { name: 'comment of empty lines', send: (times) => comment(`x${repeat('\n', times * 16_000)}x`) },
    { name: 'comment of blanks', send: (times) => comment(`/signalbox${repeat(' ', times * 16_000)}x`) },
  ];
}

let lastNumber = 1;

/** Submits a pull request, waits until its test commit is made or it was refused, and takes it out again. */
async function through(
  hostile: Caller,
  change: { readonly body?: string; readonly files?: object },
): Promise<void> {
  const number = ++lastNumber;
  const pr = { number };
  const files = change.files ?? { [`file-${number}.txt`]: 'x' };
  await hostile.expect('/sandbox/v1/createPullRequest', {
    repo,
    pr,
    title: `Change ${number}`,
    author: 'mallory',
    body: change.body ?? '',
    files,
  });
  await hostile.expect('/v1/submitPullRequest', { ...target, pr });
  for (let waited = 0; waited < 20_000; waited += 50) {
    const { state } = await hostile.ask<{ state: string }>('/v1/getSubmittedPullRequest', { ...target, pr });
    if (!['not_ready', 'pending'].includes(state)) break;
    if (waited > 15_000) throw new Error(`Pull request ${number} is ${state} after 15 s.`);
    await sleep(50, undefined, hostile);
  }
  await hostile.call('/v1/cancelPullRequest', { ...target, pr });
}

const pullRequests = (hostile: Caller): readonly Input[] => [
  {
    name: 'commit message of trailers',
    send: (times) => through(hostile, { body: repeat('co-authored-by:\u2028', times * 16_000) }),
  },
  {
    name: 'commit message of blanks',
    send: (times) => through(hostile, { body: `co-authored-by:${repeat(' ', times * 16_000)}` }),
  },
  {
    name: 'YAML of anchors',
    send: (times) => through(hostile, { files: { '.signalbox.yaml': repeat('&a ', times * 15_000) } }),
  },
  {
    name: 'YAML of brackets',
    send: (times) => through(hostile, { files: { '.signalbox.yaml': repeat('[', times * 15_000) } }),
  },
];

/** Sends a bundle and waits until it was read. */
async function putBundle(caller: Caller, bytes: Buffer): Promise<void> {
  const made = await caller.ask<{ id: string; url: string }>('/v1/metrics/createBundleUpload', {
    repo,
    orgUrlSlug: 'hostile',
  });
  await put(caller, made.url, bytes);
  await untilRead(caller, made.id);
}

/** As an uploader does: a service that is busy is asked again after the time that it names. */
async function put({ signal }: Caller, url: string, bytes: Buffer): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    const { status, ok, headers } = await fetch(url, { method: 'PUT', body: new Uint8Array(bytes), signal });
    if (ok) return;
    if (status !== 429 && status !== 503) throw new Error(`The upload was answered with ${status}.`);
    await sleep(1_000 * Number(headers.get('retry-after') ?? 1), undefined, { signal });
  }
  throw new Error('The service refused an upload five times, because it was busy.');
}

async function untilRead(caller: Caller, id: string): Promise<void> {
  let last = '';
  for (let waited = 0; waited < 30_000; waited += 25) {
    const { upload } = await caller.asReader.ask<{ upload: { state: string } }>(
      '/v1/flaky-tests/get-upload',
      {
        repo,
        org_url_slug: 'hostile',
        upload_id: id,
      },
    );
    last = upload.state;
    if (!['awaited', 'stored', 'accepted', 'pending'].includes(upload.state)) return;
    await sleep(25, undefined, caller);
  }
  throw new Error(`An upload was not read within 30 s. It is ${last}.`);
}

/** No two are the same: one that is known already is not read again. */
const bundleOf = (envs: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): Buffer =>
  zstdCompressSync(
    tarOf([
      {
        name: 'meta.json',
        content: JSON.stringify({ envs: { ...envs, NONCE: randomUUID() }, file_sets: [] }),
      },
      ...Object.entries(files).map(([name, content]) => ({ name, content })),
    ]),
  );

const one = '<testsuite><testcase name="a"/></testsuite>';
const github = (server: string) => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: 'a/b',
  GITHUB_RUN_ID: '1',
});

const bundles = (hostile: Caller, stranger: Caller): readonly Input[] => [
  {
    name: 'bundle with an address of slashes',
    send: (times) =>
      putBundle(stranger, bundleOf(github(`${repeat('/', times * 60_000)}x`), { 'junit/a.xml': one })),
  },
  {
    name: 'bundle of many variables',
    send: (times) =>
      putBundle(
        stranger,
        bundleOf(Object.fromEntries(Array.from({ length: times * 5_000 }, (_, at) => [`V${at}`, 'x'])), {
          'junit/a.xml': one,
        }),
      ),
  },
  {
    name: 'CODEOWNERS with a heading of blanks',
    send: (times) =>
      putBundle(
        hostile,
        bundleOf({}, { CODEOWNERS: `[a]${repeat(' ', times * 64 * kibi)}\u2028x`, 'junit/a.xml': one }),
      ),
  },
  {
    name: 'CODEOWNERS of many rules',
    send: (times) =>
      putBundle(
        hostile,
        bundleOf(
          {},
          {
            CODEOWNERS: Array.from({ length: times * 4_000 }, (_, at) => `*a*b*${at} @hostile/team`).join(
              '\n',
            ),
            'junit/a.xml': one,
          },
        ),
      ),
  },
];

const reports = (stranger: Caller): readonly Input[] => {
  const send = async (bytes: Buffer, type = 'application/xml') => {
    const sha = createHash('sha1').update(bytes).digest('hex');
    const place = `repo=sandbox.example/hostile/widgets&org_url_slug=hostile&sha=${sha}&branch=b`;
    const { upload_id: id } = await stranger.post<{ upload_id: string }>(
      `/v1/flaky-tests/upload?${place}`,
      bytes,
      type,
    );
    if (id !== undefined) await untilRead(stranger, id);
  };
  const names = (count: number, name: (at: number) => string) =>
    Buffer.from(
      `<testsuite name="${randomUUID()}">${Array.from({ length: count }, (_, at) => `<testcase name="${name(at)}"/>`).join('')}</testsuite>`,
    );
  const hook = repeat('&quot;before each&quot; hook for &quot;', 30_000);
  return [
    { name: 'report of names of hooks', send: (times) => send(names(times * 10, (at) => `${at} ${hook}`)) },
    { name: 'report of many tests', send: (times) => send(names(times * 5_000, (at) => `test ${at}`)) },
    {
      name: 'report of nested elements',
      send: (times) => send(Buffer.from(`<a>${randomUUID()}${'<a b="c">'.repeat(times * 50_000)}`)),
    },
    {
      name: 'report of tiny zstd frames',
      send: async (times) => {
        const frame = zstdCompressSync(Buffer.alloc(0));
        await send(Buffer.concat(Array.from({ length: times * 2_000 }, () => frame)), 'application/zstd');
      },
    },
    {
      name: 'report that grows when it is decompressed',
      send: (times) =>
        send(
          zstdCompressSync(
            Buffer.concat([names(1, () => randomUUID()), Buffer.alloc(times * 4 * 1_048_576)]),
          ),
        ),
    },
  ];
};

const bodies = (hostile: Caller): readonly Input[] => [
  {
    name: 'body of many targets',
    send: async (times) => {
      const impactedTargets = Array.from(
        { length: times * 25_000 },
        (_, at) => `//some/folder/of/a/target:${at}`,
      );
      await hostile.expect('/v1/setImpactedTargets', {
        ...target,
        pr: { number: 1, sha: 'a'.repeat(40) },
        impactedTargets,
      });
    },
  },
  {
    name: 'body of brackets',
    send: async (times) => {
      await hostile.post(
        '/v1/setImpactedTargets',
        Buffer.from(`{"a":[${repeat('[],', times * 1_048_576)}1]}`),
        'application/json',
      );
    },
  },
];

/** Calls of the token that anybody may have which would ask a Git host, if they could. */
export async function callHosts({ url, tokens }: World, letters: string): Promise<void> {
  const stranger = createCaller(url, tokens.upload);
  for (let at = 0; at < 20; at += 1) {
    const foreign = { host: connectedHost, owner: 'acme', name: `${letters}-${at}` };
    await stranger.call('/v1/metrics/createBundleUpload', { repo: foreign, orgUrlSlug: 'hostile' });
    await stranger.call('/v1/setImpactedTargets', {
      repo: foreign,
      targetBranch: 'main',
      pr: { number: 1 },
      impactedTargets: ['a'],
    });
    await stranger.call('/v1/metrics/getQuarantineConfig', { repo: foreign, orgUrlSlug: 'hostile' });
    await stranger.post(
      `/v1/flaky-tests/upload?repo=${connectedHost}/acme/${letters}-${at}&org_url_slug=hostile&sha=${'a'.repeat(40)}&branch=b`,
      Buffer.from(one),
      'application/xml',
    );
  }
}
