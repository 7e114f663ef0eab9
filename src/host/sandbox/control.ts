// What a script may do to the sandbox: the control API and pushes over HTTP come here. None of the faults apply, since
// this is how they are set back.

import { isAncestor } from '#git/mirror.ts';
import { branchRef } from '#git/ref.ts';
import type { HostRepository, MergeAnswer, MergeRequest, RefUpdate } from '../host.ts';
import { checkEvents } from './ci.ts';
import { commitFiles, type FileChanges } from './commit.ts';
import { changeRefs, findCommit, listRefs } from './git.ts';
import { personOf } from './made-up.ts';
import {
  createPullRequestControl,
  type PullRequestControl,
  type PullRequestOptions,
  refusal,
  requireRevision,
} from './pull-request.ts';
import type { NoticePush } from './push.ts';
import { type SandboxSettings, settingsFrom, type SettingsPatch, withPatch } from './setting.ts';
import type { CheckWish, CiKey, CiRecord, SandboxStore } from './store.ts';
import { createWords, type Words } from './word.ts';

type BranchWish = {
  readonly branch: string;
  readonly message?: string | undefined;
  readonly author?: string | undefined;
  readonly files?: FileChanges | undefined;
  /** The commit to move the branch to. */
  readonly sha?: string | undefined;
  /** Move it even where that is no fast-forward. */
  readonly force?: boolean | undefined;
  readonly delete?: boolean | undefined;
};

export type SandboxControl = PullRequestControl & {
  /** Of a person. */
  readonly comment: Words['comment'];
  /** As people edit what they or others wrote; false if there is no such comment. */
  readonly editComment: Words['editComment'];
  /** One that is not there is no error. */
  readonly deleteComment: SandboxStore['deleteComment'];
  readonly listComments: SandboxStore['listComments'];
  readonly changeLabels: Words['changeLabels'];
  /** The branch's new head; null: it was deleted. */
  readonly commit: (repository: HostRepository, wish: BranchWish) => Promise<string | null>;
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  readonly readSettings: (repository: HostRepository) => Promise<SandboxSettings>;
  readonly configure: (repository: HostRepository, patch: SettingsPatch) => Promise<SandboxSettings>;
  readonly setCheck: (repository: HostRepository, sha: string, check: CheckWish) => Promise<void>;
  readonly findTestRunSha: SandboxStore['findTestRunSha'];
  readonly listBranches: (repository: HostRepository) => Promise<ReadonlyMap<string, string>>;
  readonly listOpen: SandboxStore['listOpen'];
  readonly listChecks: SandboxStore['listChecks'];
  readonly listCi: (repository: HostRepository, sha: string) => Promise<readonly CiRecord[]>;
  /** The repository's folder, for those who speak git to it. */
  readonly directoryOf: (repository: HostRepository) => Promise<string>;
  readonly noticePush: (repository: HostRepository, updates: readonly RefUpdate[]) => Promise<void>;
  readonly performCi: (repository: HostRepository, key: CiKey) => Promise<void>;
};

type ControlOptions = PullRequestOptions & {
  readonly noticePush: NoticePush;
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  readonly scripts: boolean;
};

export function createControl(options: ControlOptions): SandboxControl {
  const { store, disk, noticePush } = options;
  return {
    ...createPullRequestControl(options),
    ...wordControl(options),
    commit: (repository, wish) => commitToBranch(options, repository, wish),
    merge: options.merge,
    ...settingsControl(options),
    findTestRunSha: store.findTestRunSha,
    listBranches: async (repository) => {
      const refs = await listRefs(await disk.ensure(repository), 'refs/heads');
      return new Map([...refs].map(([ref, sha]) => [ref.slice('refs/heads/'.length), sha]));
    },
    listOpen: store.listOpen,
    listChecks: store.listChecks,
    listCi: store.listCi,
    directoryOf: disk.ensure,
    noticePush,
    performCi: options.ci.perform,
  };
}

function settingsControl({ store, disk, announce, scripts }: ControlOptions) {
  const readSettings: SandboxControl['readSettings'] = async (repository) =>
    settingsFrom(await store.findSettings(repository));
  const configure: SandboxControl['configure'] = async (repository, patch) => {
    if (patch.ci?.script === true && !scripts)
      throw refusal(
        'Scripts are switched off here. Ask your Signalbox administrator to set SIGNALBOX_SANDBOX_SCRIPTS=on.',
      );
    const settings = withPatch(await readSettings(repository), patch);
    await store.saveSettings(repository, settings);
    if (patch.protection !== undefined) await disk.protect(repository, settings);
    return settings;
  };
  const setCheck: SandboxControl['setCheck'] = async (repository, sha, check) => {
    const checks = await store.saveCheck(repository, sha, check);
    const { faults } = await readSettings(repository);
    await announce(repository, faults, checkEvents(repository, sha, checks));
  };
  return { readSettings, configure, setCheck };
}

function wordControl(
  options: ControlOptions,
): Pick<SandboxControl, 'comment' | 'editComment' | 'deleteComment' | 'listComments' | 'changeLabels'> {
  const { store } = options;
  const { comment, editComment, changeLabels } = createWords(options);
  return {
    comment,
    editComment,
    changeLabels,
    deleteComment: store.deleteComment,
    listComments: store.listComments,
  };
}

async function commitToBranch(
  { disk, clock, noticePush }: ControlOptions,
  repository: HostRepository,
  wish: BranchWish,
): Promise<string | null> {
  const { branch, files, sha, message = 'Commit', author = 'sandbox' } = wish;
  const directory = await disk.ensure(repository);
  const ref = branchRef(branch);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const from = await findCommit(directory, ref);
    let to: string | null;
    if (wish.delete === true) to = null;
    else if (sha !== undefined) {
      to = await requireRevision(directory, sha, sha);
      if (from !== null && wish.force !== true && !(await isAncestor({ directory }, from, to)))
        throw refusal(`${branch} cannot be moved to ${sha} without force: commits would be lost.`);
    } else {
      const parent = from ?? (await disk.ensureBranch(repository, 'main'));
      if (parent === null) throw refusal('The repository has no branch main to begin from.');
      const at = clock.now();
      to = await commitFiles(directory, {
        parent,
        files: files ?? {},
        author: personOf(author),
        message,
        at,
      });
    }
    if (from === null && to === null) throw refusal(`There is no branch ${branch}.`);
    if (!(await changeRefs(directory, [{ ref, from, to }]))) continue;
    await noticePush(repository, [{ ref, from, to }]);
    return to;
  }
  throw refusal(`${branch} moves too often. Try again.`);
}
