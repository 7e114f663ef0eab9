// Files of a partial clone. The mirror has all commits and folders of the history, but only the files that
// were needed. The files that merges will read are fetched at once for all heads of one fetch. A merge or a
// push that needs more lets git fetch it, also at once (git's merge and its packing ask for everything they
// lack in one request).

import { GitError, isOwnTrouble } from '../error.ts';
import { fetchArgs } from './fetch-args.ts';
import { boundedWork, type GitSettings, runGit } from '../run.ts';

/** As git fetches promised objects: it announces none of its own, since these would count as present. */
const config = [['fetch.negotiationAlgorithm', 'noop']] as const;

/** Fetches those of the objects that are missing here. */
export async function fetchObjects(
  settings: GitSettings,
  shas: readonly string[],
  stallMs: number,
): Promise<void> {
  const missing = await findAbsentObjects(settings, shas);
  if (missing.length === 0) return;
  await runGit({ ...settings, config }, { args: fetchArgs(true), input: `${missing.join('\n')}\n`, stallMs });
}

async function findAbsentObjects(settings: GitSettings, shas: readonly string[]): Promise<readonly string[]> {
  const wanted = [...new Set(shas)];
  if (wanted.length === 0) return [];
  const { stdout } = await runGit(
    { ...settings, isPromised: false },
    { args: ['cat-file', '--batch-check'], input: `${wanted.join('\n')}\n` },
  );
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line.endsWith(' missing'))
    .map((line) => line.split(' ')[0]!);
}

/** Above this number, paths are not compared with the branch: they are arguments of git's command line. */
const pathsMax = 1_000;

/**
 * Fetches the files that a merge of each head with the tip reads: for every path that the head changed, the
 * file before, after, and on the tip. A head that shares no history with the tip has no merge.
 */
export async function fetchForMerges(
  settings: GitSettings,
  tip: string,
  heads: readonly string[],
  stallMs: number,
): Promise<void> {
  const local = { ...settings, isPromised: false };
  const shas: string[] = [];
  for (const head of heads) {
    try {
      for (const sha of await filesOfMerge(local, tip, head)) shas.push(sha);
    } catch (error) {
      // One head that is too large to compare does not stop the others: its own merge reports the trouble.
      if (!isOwnTrouble(error)) throw error;
    }
  }
  try {
    await fetchObjects(settings, shas, stallMs);
  } catch (error) {
    // The merge itself reports which object cannot be fetched.
    if (!(error instanceof GitError) || error.kind !== 'missing') throw error;
  }
}

async function filesOfMerge(local: GitSettings, tip: string, head: string): Promise<readonly string[]> {
  const args = ['merge-base', tip, head];
  const { stdout } = await runGit(local, { args, exitCodes: [0, 1], ...boundedWork });
  const ancestor = stdout.toString('latin1').trim();
  if (ancestor === '') return [];
  const changes = await changesBetween(local, ancestor, head, []);
  const paths = changes.map(({ path }) => path);
  const isCompared = ancestor !== tip && paths.length > 0 && paths.length <= pathsMax;
  const onTip = isCompared ? await changesBetween(local, ancestor, tip, paths) : [];
  return [...changes, ...onTip].flatMap((change) => change.shas);
}

type ChangedPathBlobs = { readonly path: string; readonly shas: readonly string[] };

async function changesBetween(
  settings: GitSettings,
  before: string,
  after: string,
  paths: readonly string[],
): Promise<readonly ChangedPathBlobs[]> {
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    before,
    after,
    '--',
    ...paths,
  ];
  const environment = { ...settings.environment, GIT_LITERAL_PATHSPECS: '1' };
  const { stdout } = await runGit({ ...settings, environment }, { args, ...boundedWork });
  const fields = stdout.toString('utf8').split('\0');
  const changes: ChangedPathBlobs[] = [];
  // `:<mode> <mode> <sha> <sha> <status>`, then the path. Submodules have no file; zeros mean no file.
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [modeBefore, modeAfter, shaBefore, shaAfter] = fields[at]!.slice(1).split(' ');
    const sides = [
      [modeBefore, shaBefore],
      [modeAfter, shaAfter],
    ] as const;
    const shas = sides.flatMap(([mode, sha]) =>
      mode === '160000' || sha === undefined || /^0+$/.test(sha) ? [] : [sha],
    );
    changes.push({ path: fields[at + 1]!, shas });
  }
  return changes;
}
