// A remote with a mirror of it, and pull requests made to order, for tests of what is built from them.

import { onTestFinished } from 'vitest';
import {
  buildCandidate,
  type Candidate,
  type TestCommitMember,
  type MergeMethod,
} from '#git/candidate/candidate.ts';
import { type Mirror, openMirror } from '#git/mirror/mirror.ts';
import { makeRemote, temporaryFolder, type CommitSpec, type TestRemote } from './git-remote.ts';

export const methods: readonly MergeMethod[] = ['squash', 'merge_commit', 'rebase'];
export const lines = (changed: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 30 }, (_, line) => `${changed[line] ?? `line ${line}`}\n`).join('');

type World = {
  readonly remote: TestRemote;
  readonly mirror: Mirror;
  readonly base: string;
  /** A pull request of one commit on the base, already in the mirror. */
  readonly pull: (
    number: number,
    spec: CommitSpec,
    words?: Partial<TestCommitMember>,
  ) => Promise<TestCommitMember>;
  readonly at: (
    number: number,
    headSha: string,
    words?: Partial<TestCommitMember>,
  ) => Promise<TestCommitMember>;
  readonly build: (
    members: readonly TestCommitMember[],
    method?: MergeMethod,
    base?: string,
  ) => Promise<Candidate>;
};

export async function makeWorld(
  files: CommitSpec['files'] = { shared: lines(), other: lines() },
  format: 'sha1' | 'sha256' = 'sha1',
): Promise<World> {
  const remote = makeRemote(format);
  const base = remote.commit({ files, message: 'Base' });
  remote.set('refs/heads/main', base);
  const mirror = await openMirror(
    `${temporaryFolder()}/mirror.git`,
    { url: remote.path },
    { objectFormat: format },
  );
  onTestFinished(mirror.close);
  const at = async (
    number: number,
    headSha: string,
    words: Partial<TestCommitMember> = {},
  ): Promise<TestCommitMember> => {
    remote.set(`refs/pull/${number}/head`, headSha);
    await mirror.fetch({ branch: 'main', pulls: [{ number, sha: headSha }] });
    return {
      number,
      headSha,
      title: `Change ${number}`,
      body: '',
      url: `https://host.example/pull/${number}`,
      author: null,
      at: new Date(1_750_000_000_000 + number * 1_000),
      ...words,
    };
  };
  return {
    remote,
    mirror,
    base,
    at,
    pull: (number, spec, words) => at(number, remote.commit({ parents: [base], ...spec }), words),
    build: (members, method = 'squash', from = base) =>
      buildCandidate(mirror, { base: from, members, method }),
  };
}

export async function built(candidate: Promise<Candidate>): Promise<Extract<Candidate, { kind: 'built' }>> {
  const result = await candidate;
  if (result.kind !== 'built') throw new Error(`Not built: ${JSON.stringify(result)}`);
  return result;
}
