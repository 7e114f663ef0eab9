// Repositories of the sandbox on disk, created when first needed. Before a fetch, everything that is in the
// database and not on disk is written. Several processes may do so at once: each writes the same objects, a
// new repository is renamed into place, and refs move only from where they were seen.
//
// Refs: refs/heads/*, refs/pull/<number>/head, and two hidden ones: refs/sandbox/branch/* records that a
// branch was created once (it is not created again after a deletion), refs/sandbox/merged/* which commit
// merged a head.

import { randomBytes } from 'node:crypto';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Cell } from '#db/cell.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import {
  forgetWrittenPullRequests,
  listUnwrittenPullRequests,
  markPullRequestsWritten,
} from '#db/sandbox/sandbox-store.ts';
import { branchRef, remotePullRef } from '#git/ref.ts';
import { runGit } from '#git/run.ts';
import type { HostRepository } from '../host.ts';
import { changeRefs, findCommit, knownCommits, listRefs, type RefChange } from './git.ts';
import { headObjects, rootObjects, rootSha } from './made-up.ts';
import { type GitObject, encodePack } from './object.ts';
import { recallMerged } from './recall.ts';
import { loadSettings, type SandboxSettings } from './setting.ts';

export type Disk = {
  /** The repository's folder, up to date with the database. */
  readonly ensure: (repository: HostRepository) => Promise<string>;
  /**
   * The head of a branch, which is created from the first commit if it never existed; null if it was deleted.
   */
  readonly ensureBranch: (repository: HostRepository, branch: string) => Promise<string | null>;
  /** Makes the repository enforce its protection. */
  readonly protect: (repository: HostRepository, settings: SandboxSettings) => Promise<void>;
};

const madeRef = (branch: string): string => `refs/sandbox/branch/${branch}`;

// No fsync: a killed process loses nothing, and a sandbox may lose its last second to a power cut.
const config: readonly (readonly [string, string])[] = [
  ['core.fsync', 'none'],
  ['gc.auto', '0'],
  ['receive.autogc', 'false'],
  ['receive.maxInputSize', '256m'],
  ['transfer.hideRefs', 'refs/sandbox'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  ['uploadpack.allowFilter', 'true'],
  ['core.filesRefLockTimeout', '5000'],
  ['http.receivepack', 'true'],
];

/** Git runs this before it accepts a push; `protected` lists the refs that refuse pushes, one per line. */
const preReceive = `#!/bin/sh
refused=0
while read -r old new ref; do
  case "$SIGNALBOX_PUSHER:$ref" in
    person:refs/pull/* | person:refs/heads/signalbox/*)
      echo "$ref belongs to the sandbox host: push to a branch of your own."
      refused=1
      ;;
  esac
  if [ -f protected ] && grep -qxF -e "$ref" protected; then
    echo "$ref is protected: pushes to it are refused."
    refused=1
  fi
done
exit $refused
`;

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function writeObjects(directory: string, objects: readonly GitObject[]): Promise<void> {
  // A few objects are written as loose files, many as one pack.
  const args = objects.length < 100 ? ['unpack-objects', '-q'] : ['index-pack', '--stdin'];
  await runGit({ directory }, { args, input: encodePack(objects) });
}

/** A push reads every ref and every loose object: they are packed after this many uses. */
const openedPerTidying = 200;

/** Errors are ignored: another process may be packing at the same time. */
async function tidy(directory: string): Promise<void> {
  const quietly = (args: readonly string[]) => runGit({ directory }, { args }).catch(() => undefined);
  await quietly(['pack-refs', '--all']);
  await quietly(['repack', '-d', '-q']);
}

async function writeProtection(directory: string, { protection }: SandboxSettings): Promise<void> {
  const refs = Object.entries(protection).flatMap(([branch, rules]) =>
    rules?.refusePushes === true ? [`${branchRef(branch)}\n`] : [],
  );
  const temporary = join(directory, `protected.${randomBytes(6).toString('hex')}`);
  await writeFile(temporary, refs.join(''));
  await rename(temporary, join(directory, 'protected'));
}

async function createRepository(directory: string, repository: HostRepository, cell: Cell): Promise<void> {
  await mkdir(dirname(directory), { recursive: true });
  const temporary = `${directory}.${randomBytes(6).toString('hex')}`;
  try {
    const args = ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', temporary];
    await runGit({ directory: temporary }, { args });
    const lines = config.map(([key, value]) => {
      const [section, name] = key.split('.');
      return `[${section}]\n\t${name} = ${value}\n`;
    });
    await writeFile(join(temporary, 'config'), lines.join(''), { flag: 'a' });
    await mkdir(join(temporary, 'hooks'), { recursive: true });
    await writeFile(join(temporary, 'hooks', 'pre-receive'), preReceive, { mode: 0o755 });
    await writeProtection(temporary, await loadSettings(cell, repository));
    await writeObjects(temporary, rootObjects(repository));
    await changeRefs(temporary, branchChanges('main', rootSha(repository)));
    // Before the rename: a process that finds the repository must not assume that pull requests were written
    // to it.
    await forgetWrittenPullRequests(cell.db, repository.id);
    await rename(temporary, directory);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process was first: its repository is equivalent.
    if (!(await exists(join(directory, 'HEAD')))) throw error;
  }
}

const branchChanges = (branch: string, sha: string): readonly RefChange[] => [
  { ref: branchRef(branch), from: null, to: sha },
  { ref: madeRef(branch), from: null, to: sha },
];

export function createDisk(root: string, cell: Cell): Disk {
  const repositoryDirectory = (repository: HostRepository) => join(root, `${repository.id}.git`);
  // One at a time per repository and process. A caller waits for a turn that starts after its call.
  const turns = new Map<string, Promise<unknown>>();
  const inTurn = async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
    turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (turns.get(key) === turn) turns.delete(key);
    }
  };

  const opened = new Map<string, number>();
  const open = async (repository: HostRepository): Promise<string> => {
    const directory = repositoryDirectory(repository);
    if (!(await exists(join(directory, 'HEAD')))) await createRepository(directory, repository, cell);
    else if (!opened.has(repository.id)) await recallMerged(directory, repository, cell);
    const count = (opened.get(repository.id) ?? 0) + 1;
    opened.set(repository.id, count % openedPerTidying);
    if (count === openedPerTidying) await tidy(directory);
    return directory;
  };
  const ensure = (repository: HostRepository) =>
    inTurn(repository.id, async () => {
      const directory = await open(repository);
      for (;;) {
        const unwritten = await listUnwrittenPullRequests(cell.reader, repository.id);
        if (unwritten.length === 0) return directory;
        await writePullRequests(directory, repository, unwritten);
        await markPullRequestsWritten(cell.db, repository.id, unwritten);
      }
    });
  return {
    ensure,
    ensureBranch: async (repository, branch) => {
      const directory = await ensure(repository);
      const known = await findCommit(directory, branchRef(branch));
      if (known !== null) return known;
      await changeRefs(directory, branchChanges(branch, rootSha(repository)));
      return findCommit(directory, branchRef(branch));
    },
    protect: async (repository, settings) => writeProtection(await ensure(repository), settings),
  };
}

/** Writes made-up heads, and points the refs of pull requests to their heads. */
async function writePullRequests(
  directory: string,
  repository: HostRepository,
  pullRequests: readonly SandboxPullRequest[],
): Promise<void> {
  const refs = await listRefs(directory, 'refs/pull', 'refs/sandbox/branch');
  const branches = new Set(pullRequests.map(({ baseBranch }) => baseBranch));
  for (const branch of branches)
    if (!refs.has(madeRef(branch))) await changeRefs(directory, branchChanges(branch, rootSha(repository)));
  const wanted = pullRequests.map(({ number, headSha, state }) => ({
    number,
    from: refs.get(remotePullRef(number)) ?? null,
    to: state === 'missing' ? null : headSha,
  }));
  // Most changes of a pull request leave its head where it is.
  const moved = new Set(wanted.flatMap(({ number, from, to }) => (from === to ? [] : [number])));
  const written = await writeHeads(
    directory,
    repository,
    pullRequests.filter(({ number }) => moved.has(number)),
  );
  // A head that is no commit of this repository gets no ref: it cannot be fetched.
  const changes = wanted.flatMap(({ number, from, to }): RefChange[] => {
    const known = to !== null && (from === to || written.has(to)) ? to : null;
    return from === known ? [] : [{ ref: remotePullRef(number), from, to: known }];
  });
  if (await changeRefs(directory, changes)) return;
  // Another process wrote some of them at the same time: the rest is written one by one, the database
  // decides.
  for (const { ref, to } of changes) await changeRefs(directory, [{ ref, to }]);
}

/** Writes those heads that are made up; returns the heads that the repository has. */
async function writeHeads(
  directory: string,
  repository: HostRepository,
  pullRequests: readonly SandboxPullRequest[],
): Promise<ReadonlySet<string>> {
  const made = pullRequests
    .map(({ number, revision }) => headObjects(repository, number, revision))
    .filter((objects, index) => objects.at(-1)!.sha === pullRequests[index]!.headSha);
  if (made.length > 0) await writeObjects(directory, made.flat());
  const written = new Set(made.map((objects) => objects.at(-1)!.sha));
  const others = pullRequests.map(({ headSha }) => headSha).filter((sha) => !written.has(sha));
  return new Set([...written, ...(await knownCommits(directory, others))]);
}
