// Texts of strangers, each at one size and at eight times that: reading takes time in proportion. What takes the square
// of its length takes 64 times as long, and is far above the bound at the larger size.

import { hash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { detectCiEnvironment } from '#config/ci.ts';
import { repositoryOfRemote } from '#config/remote-url.ts';
import { createOwnerLookup } from '#core/health/codeowners/codeowners.ts';
import { fingerprintFailure } from '#core/health/fingerprint/fingerprint.ts';
import { mayBeCommand, parseComment } from '#core/queue/text/comment-command.ts';
import { classifyGitOutput } from '#git/error.ts';
import { squashMessage } from '#git/candidate/message.ts';
import { parseCommit } from '#git/object.ts';
import { matchesPattern } from '#host/gitea/rule/glob.ts';
import { withoutSecrets } from '#host/github/client/trouble.ts';
import { readContent } from '#report/bundle/content.ts';
import { parseMeta } from '#report/bundle/meta.ts';
import { stableName } from '#report/format/name.ts';
import { redactSecrets } from '#report/format/redact.ts';
import { parseCodeowners } from '../support/codeowners.ts';

const person = { name: 'ada', email: 'ada@example.com' };
const pullRequest = (body: string) => ({ number: 1, title: 'One', body, url: '', author: person });
const commit = (message: string) =>
  parseCommit('0', Buffer.from(`tree 0\nauthor a <a@b> 1 +0000\n\n${message}`));
const github = (server: string) => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: 'acme/widgets',
  GITHUB_RUN_ID: '1',
});

type Reading = readonly [what: string, read: (length: number) => unknown];

const times = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));

const readings: readonly Reading[] = [
  ['a comment of empty lines', (length) => mayBeCommand(`x${times('\n', length)}x`)],
  ['a comment of blanks', (length) => parseComment(`/signalbox${times(' ', length)}x`, ['signalbox'])],
  [
    'a body of blanks behind a trailer',
    (length) => squashMessage(pullRequest(`co-authored-by:${times(' ', length)}`), [], person),
  ],
  [
    'a body of trailers on lines of another kind',
    (length) => squashMessage(pullRequest(times('co-authored-by:\u2028', length)), [], person),
  ],
  [
    'a commit message of blanks behind a trailer',
    (length) => squashMessage(pullRequest(''), [commit(`co-authored-by:${times(' ', length)}`)], person),
  ],
  ['an author of brackets', (length) => parseCommit('0', Buffer.from(`author ${times('<', length)}\n\nx`))],
  ['the address of a CI', (length) => detectCiEnvironment(github(`${times('/', length)}x`), null)],
  ['the address of a remote', (length) => repositoryOfRemote(`a://[${times('[@0', length)}`)],
  ['the path of a remote', (length) => repositoryOfRemote(`https://a/b${times('#', length)}\nc`)],
  ['a heading of owners', (length) => parseCodeowners(`[a]${times(' ', length)}\u2028x`)],
  ['headings of owners', (length) => parseCodeowners(times('[a][1] @b\n', length))],
  [
    'patterns of owners',
    (length) => createOwnerLookup(parseCodeowners(times('*a*a*a*b @b\n', length)))(times('a/', 2_000)),
  ],
  ['the name of a hook', (length) => stableName(times('"before each" hook for "', length))],
  ['a pattern of a branch', (length) => matchesPattern('*a*a*a*a*a*b', times('a', length))],
  ['words of git', (length) => classifyGitOutput(times("unable to create 'repository '", length))],
  ['a message of a host', (length) => withoutSecrets(times('-eyJ', length))],
  ['a failure of paths', (length) => fingerprint(times('/a b', length))],
  ['a failure of web addresses', (length) => redactSecrets(times('://a:b', length))],
  [
    'variables of a CI',
    (length) => parseMeta(`{"envs":{${times('"a":"b",', length)}"c":"${times('/', length)}"}}`),
  ],
];

const fingerprint = (text: string) =>
  fingerprintFailure({ type: 'Error', message: text, body: text }, 'a test', (word) =>
    hash('sha256', word, 'hex'),
  );

/** The best of a few: other programs run beside the tests. */
function fastestMs(work: () => unknown): number {
  let best = Infinity;
  for (let round = 0; round < 3; round += 1) {
    const from = performance.now();
    work();
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

describe('time in proportion to the text', () => {
  it.each(readings)('%s', (_what, read) => {
    const small = fastestMs(() => read(16_000));
    const large = fastestMs(() => read(128_000));
    // Eight times the text. The square would be 64 times, and seconds.
    expect(large).toBeLessThan(Math.max(100, small * 24));
  });

  it('of zstd frames: an upload of nothing but small ones is not read to its end', async () => {
    const frame = zstdCompressSync(Buffer.alloc(0));
    async function* upload() {
      yield Buffer.concat(Array.from({ length: 4_000 }, () => frame));
    }
    const { problems } = await readContent(upload(), { onCase: () => undefined });
    expect(problems.map(({ code }) => code)).toContain('TOO_MANY_FRAMES');
  });

  it('of zstd frames: many large ones are read', async () => {
    const report = Buffer.from(
      `<testsuite>${Array.from({ length: 40_000 }, (_, at) => `<testcase name="test ${at} ${hash('sha256', String(at))}"/>`).join('')}</testsuite>`,
    );
    const frames = Array.from({ length: Math.ceil(report.length / 65_536) }, (_, at) =>
      zstdCompressSync(report.subarray(at * 65_536, (at + 1) * 65_536)),
    );
    async function* upload() {
      yield* frames;
    }
    const { cases, problems } = await readContent(upload(), { onCase: () => undefined });
    expect([cases, problems]).toEqual([40_000, []]);
  });
});
