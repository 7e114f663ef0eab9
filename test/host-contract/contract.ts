// What the sections of the host contract share: the world, a new repository with git in hand, and waiting for what a host
// does in its own time.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { onTestFinished, type TestContext } from 'vitest';
import { isMergeabilityKnown, type PullRequest } from '#core/queue/model.ts';
import { buildCandidate, type MergeMethod } from '#git/candidate/candidate.ts';
import { type Mirror, openMirror } from '#git/mirror/mirror.ts';
import { branchRef } from '#git/ref.ts';
import type { Host } from '#host/host.ts';
import { git } from '../fixture/sandbox.ts';
import type { Capability, HostWorld, Place, PullRequestWish } from './world.ts';

export type Contract = {
  readonly world: () => HostWorld;
  /** Leaves the test out where the world cannot do what it needs. */
  readonly needs: (context: TestContext, ...wanted: readonly Capability[]) => void;
  readonly openPlace: () => Promise<Workplace>;
};

type Files = Readonly<Record<string, string>>;

export type Change = { readonly number: number; readonly sha: string; readonly branch: string };

/** A place, what people do there with git, and what the Host under test says and does of it. */
export type Workplace = Place & {
  readonly host: Host;
  /** The author puts a commit of these files on a branch, made from main if it is not there; answers with its sha. */
  readonly push: (branch: string, files: Files) => Promise<string>;
  readonly deleteBranch: (branch: string) => Promise<void>;
  readonly tipOf: (branch: string) => Promise<string | null>;
  /** Fetches, then runs git in the author's clone. */
  readonly git: (...args: readonly string[]) => Promise<string>;
  /** A pull request of these files, from a branch of its own. */
  readonly propose: (files: Files, wish?: Partial<PullRequestWish>) => Promise<Change>;
  readonly read: (number: number) => Promise<PullRequest | null>;
  /** As soon as the host has worked out whether it can be merged. */
  readonly readSettled: (number: number) => Promise<PullRequest | null>;
  /** Our own mirror of it, with our own credentials. */
  readonly mirror: () => Promise<Mirror>;
};

const patienceMs = 60_000;
/** Where the host need not say it in the end. */
const shortPatienceMs = 3_000;

/** What is read once it is as wished; the last that was read if that takes too long. */
export async function eventually<Value>(
  read: () => Promise<Value> | Value,
  isWished: (value: Value) => boolean,
  withinMs = patienceMs,
): Promise<Value> {
  const until = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (isWished(value) || Date.now() > until) return value;
    await sleep(100);
  }
}

/** Whether any secret can be read from a value, wherever in it. */
export const leaks = ({ secrets }: HostWorld, value: unknown): boolean => {
  const text = inspect(value, { depth: 8 });
  return secrets.some((secret) => text.includes(secret));
};

export async function openPlace(world: HostWorld): Promise<Workplace> {
  const place = await world.createRepository();
  const { host } = world;
  const { repository } = place;
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-contract-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const clone = join(folder, 'clone');
  await git(folder, 'clone', '--quiet', '--branch', 'main', place.cloneUrl, clone);

  const tipOf: Workplace['tipOf'] = async (branch) =>
    (await git(clone, 'ls-remote', 'origin', branchRef(branch))).split(/\s/)[0] || null;
  const push: Workplace['push'] = async (branch, files) => {
    const from = (await tipOf(branch)) === null ? 'main' : branch;
    await git(clone, 'fetch', '--quiet', '--prune', 'origin');
    await git(clone, 'checkout', '--quiet', '--detach', `origin/${from}`);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(clone, path)), { recursive: true });
      await writeFile(join(clone, path), text);
    }
    await git(clone, 'add', '--all');
    await git(clone, 'commit', '--quiet', '--message', `Change ${Object.keys(files).join(', ')}`);
    await git(clone, 'push', '--quiet', 'origin', `HEAD:${branchRef(branch)}`);
    return git(clone, 'rev-parse', 'HEAD');
  };
  let opened: Promise<Mirror> | undefined;
  const mirror: Workplace['mirror'] = async () => {
    opened ??= openMirror(join(folder, 'mirror'), () => host.remoteOf(repository));
    const open = await opened;
    onTestFinished(open.close);
    return open;
  };
  const read: Workplace['read'] = (number) => host.readPullRequest({ repository, number });

  return {
    ...place,
    host,
    push,
    tipOf,
    deleteBranch: async (branch) => void (await git(clone, 'push', '--quiet', 'origin', '--delete', branch)),
    git: async (...args) => {
      await git(clone, 'fetch', '--quiet', '--prune', 'origin');
      return git(clone, ...args);
    },
    propose: async (files, wish = {}) => {
      const branch = wish.branch ?? `change/${Object.keys(files).join('-').replaceAll('/', '-')}`;
      const sha = await push(branch, files);
      return { number: await place.openPullRequest({ title: 'A change', ...wish, branch }), sha, branch };
    },
    read,
    readSettled: async (number) => {
      const told = await eventually(
        () => read(number),
        (now) => now === null || isMergeabilityKnown(now),
        host.leavesMergeToTry ? shortPatienceMs : patienceMs,
      );
      if (told === null || isMergeabilityKnown(told) || !host.leavesMergeToTry) return told;
      // As the queue does it.
      const { tip } = await (
        await mirror()
      ).fetch({ branch: 'main', pulls: [{ number, sha: told.headSha }] });
      const { kind } = await (await mirror()).merge(tip!, told.headSha);
      return { ...told, mergeability: kind === 'merged' ? 'mergeable' : 'not_mergeable' };
    },
    mirror,
  };
}

/** What would land if the pull request were alone in the queue, built in our mirror as the queue builds it. */
export async function build(mirror: Mirror, method: MergeMethod, pullRequest: PullRequest) {
  const { number, headSha, title, body, url } = pullRequest;
  const { tip, missing } = await mirror.fetch({ branch: 'main', pulls: [{ number, sha: headSha }] });
  const author = { name: 'Ada', email: 'ada@example.com' };
  const member = { number, headSha, title, body, url, author, at: new Date() };
  const candidate = await buildCandidate(mirror, { base: tip!, members: [member], method });
  if (candidate.kind !== 'built' || missing.length > 0)
    throw new Error(`#${number} could not be built on ${tip}`);
  return { base: tip!, sha: candidate.sha };
}
