// What a script may do to the sandbox: the control API and pushes over HTTP use this. Faults do not apply
// here, because this is how they are reset.

import type { Check } from '#core/queue/check.ts';
import {
  type NewSandboxCheck,
  type SandboxCiKey,
  type SandboxCiRow,
  findTestRunSha,
  listSandboxChecks,
  listSandboxCi,
  saveSandboxCheck,
  saveSandboxSettings,
} from '#db/sandbox/sandbox-ci-store.ts';
import {
  deleteSandboxComment,
  listSandboxComments,
  type SandboxComment,
} from '#db/sandbox/sandbox-comment-store.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import { listOpenSandboxPullRequests } from '#db/sandbox/sandbox-store.ts';
import { isAncestor } from '#git/mirror/mirror.ts';
import { branchRef } from '#git/ref.ts';
import type { HostRepository, MergeAnswer, MergeRequest, RefUpdate } from '../host.ts';
import { checkEvents } from './ci.ts';
import { commitFiles, type FileChanges } from './commit.ts';
import { changeRefs, findCommit, listRefs } from './git.ts';
import { toGitPerson } from './made-up.ts';
import {
  createPullRequestControl,
  type PullRequestControl,
  type PullRequestOptions,
  refusal,
  requireRevision,
} from './pull-request.ts';
import type { NoticePush } from './push.ts';
import { loadSettings, type SandboxSettings, type SettingsPatch, withPatch } from './setting.ts';
import { createCommentsAndLabels, type SandboxCommentsAndLabels } from './comment.ts';

type SandboxBranchInput = {
  readonly branch: string;
  readonly message?: string | undefined;
  readonly author?: string | undefined;
  readonly files?: FileChanges | undefined;
  /** The commit to move the branch to. */
  readonly sha?: string | undefined;
  /** Move it even if that is not a fast-forward. */
  readonly force?: boolean | undefined;
  readonly delete?: boolean | undefined;
};

export type SandboxControl = PullRequestControl & {
  /** Of a person. */
  readonly comment: SandboxCommentsAndLabels['comment'];
  /** Edits a comment, as people edit their own or others' comments; false if there is no such comment. */
  readonly editComment: SandboxCommentsAndLabels['editComment'];
  /** Deleting a missing comment is not an error. */
  readonly deleteComment: (repository: HostRepository, number: number, id: string) => Promise<unknown>;
  readonly listComments: (repository: HostRepository, number: number) => Promise<readonly SandboxComment[]>;
  readonly changeLabels: SandboxCommentsAndLabels['changeLabels'];
  /** The branch's new head; null: it was deleted. */
  readonly commit: (repository: HostRepository, input: SandboxBranchInput) => Promise<string | null>;
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  readonly readSettings: (repository: HostRepository) => Promise<SandboxSettings>;
  readonly configure: (repository: HostRepository, patch: SettingsPatch) => Promise<SandboxSettings>;
  readonly setCheck: (repository: HostRepository, sha: string, check: NewSandboxCheck) => Promise<void>;
  /** The commit of the newest run that tests a pull request. */
  readonly findTestRunSha: (repository: HostRepository, number: number) => Promise<string | null>;
  readonly listBranches: (repository: HostRepository) => Promise<ReadonlyMap<string, string>>;
  readonly listOpen: (repository: HostRepository) => Promise<readonly SandboxPullRequest[]>;
  readonly listChecks: (repository: HostRepository, sha: string) => Promise<readonly Check[]>;
  readonly listCi: (repository: HostRepository, sha: string) => Promise<readonly SandboxCiRow[]>;
  /** The repository's folder, for git clients. */
  readonly directoryOf: (repository: HostRepository) => Promise<string>;
  readonly noticePush: (repository: HostRepository, updates: readonly RefUpdate[]) => Promise<void>;
  readonly performCi: (repository: HostRepository, key: SandboxCiKey) => Promise<void>;
};

type ControlOptions = PullRequestOptions & {
  readonly noticePush: NoticePush;
  readonly merge: (request: MergeRequest) => Promise<MergeAnswer>;
  readonly scripts: boolean;
};

export function createControl(options: ControlOptions): SandboxControl {
  const { cell, disk, noticePush } = options;
  return {
    ...createPullRequestControl(options),
    ...commentsAndLabelsControl(options),
    commit: (repository, input) => commitToBranch(options, repository, input),
    merge: options.merge,
    ...settingsControl(options),
    findTestRunSha: (repository, number) => findTestRunSha(cell.reader, repository.id, number),
    listBranches: async (repository) => {
      const refs = await listRefs(await disk.ensure(repository), 'refs/heads');
      return new Map([...refs].map(([ref, sha]) => [ref.slice('refs/heads/'.length), sha]));
    },
    listOpen: (repository) => listOpenSandboxPullRequests(cell.reader, repository.id),
    listChecks: (repository, sha) => listSandboxChecks(cell.reader, repository.id, sha),
    listCi: (repository, sha) => listSandboxCi(cell.reader, repository.id, sha),
    directoryOf: disk.ensure,
    noticePush,
    performCi: options.ci.perform,
  };
}

function settingsControl({ cell, disk, announce, scripts }: ControlOptions) {
  const readSettings: SandboxControl['readSettings'] = (repository) => loadSettings(cell, repository);
  const configure: SandboxControl['configure'] = async (repository, patch) => {
    if (patch.ci?.script === true && !scripts)
      throw refusal(
        'Scripts are disabled. Ask your Signalbox administrator to set SIGNALBOX_SANDBOX_SCRIPTS=on.',
      );
    const settings = withPatch(await readSettings(repository), patch);
    await saveSandboxSettings(cell.db, repository.id, settings);
    if (patch.protection !== undefined) await disk.protect(repository, settings);
    return settings;
  };
  const setCheck: SandboxControl['setCheck'] = async (repository, sha, check) => {
    const checks = await saveSandboxCheck(cell.db, repository.id, sha, check);
    const { faults } = await readSettings(repository);
    await announce(repository, faults, checkEvents(repository, sha, checks));
  };
  return { readSettings, configure, setCheck };
}

function commentsAndLabelsControl(
  options: ControlOptions,
): Pick<SandboxControl, 'comment' | 'editComment' | 'deleteComment' | 'listComments' | 'changeLabels'> {
  const { cell } = options;
  const { comment, editComment, changeLabels } = createCommentsAndLabels(options);
  return {
    comment,
    editComment,
    changeLabels,
    deleteComment: (repository, number, id) => deleteSandboxComment(cell.db, repository.id, number, id),
    listComments: (repository, number) => listSandboxComments(cell.reader, repository.id, number),
  };
}

async function commitToBranch(
  { disk, clock, noticePush }: ControlOptions,
  repository: HostRepository,
  input: SandboxBranchInput,
): Promise<string | null> {
  const { branch, files, sha, message = 'Commit', author = 'sandbox' } = input;
  const directory = await disk.ensure(repository);
  const ref = branchRef(branch);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const from = await findCommit(directory, ref);
    let to: string | null;
    if (input.delete === true) to = null;
    else if (sha !== undefined) {
      to = await requireRevision(directory, sha, sha);
      if (from !== null && input.force !== true && !(await isAncestor({ directory }, from, to)))
        throw refusal(
          `${branch} cannot be moved to ${sha}: commits would be lost. Set force to move it anyway.`,
        );
    } else {
      const parent = from ?? (await disk.ensureBranch(repository, 'main'));
      if (parent === null) throw refusal('The repository has no branch main to start from. Push it first.');
      const at = clock.now();
      to = await commitFiles(directory, {
        parent,
        files: files ?? {},
        author: toGitPerson(author),
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
