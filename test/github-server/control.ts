// The hands of a test: everything by name (`acme/widgets`, `ada`), as a person would say it.

import type { Files } from './bare.ts';
import { addComment, findIssue } from './comment.ts';
import { createRuleControl, type Find, type RuleControl } from './control-rule.ts';
import type {
  Access,
  Issue,
  MergeMethod,
  Principal,
  PullRequest,
  Push,
  Repository,
  ReviewState,
  Site,
} from './model.ts';
import {
  closePull,
  dismissReviews,
  editPull,
  findLabel,
  newLabel,
  openPull,
  reopenPull,
  reviewPull,
  setDraft,
  setLabel,
  setThread,
} from './pull.ts';
import {
  accountNamed,
  forkRepository,
  installOn,
  uninstallFrom,
  type NewCommit,
  newRepository,
  type NewRepository,
  newUser,
  personOf,
  pushFiles,
  repositoryNamed,
  setBranch,
} from './stage.ts';
import type { AppHook } from './webhook.ts';

type RepositoryHandle = {
  readonly id: number;
  readonly fullName: string;
  readonly cloneUrl: string;
  readonly directory: string;
};

type OpenPullRequest = {
  /** A branch that is there, or that `files` are committed to. */
  readonly branch: string;
  /** The full name of a fork that has the branch. */
  readonly fork?: string;
  /** Committed to the branch first. */
  readonly files?: Files;
  /** Default: the default branch. */
  readonly base?: string;
  /** Default `Change <branch>`. */
  readonly title?: string;
  readonly body?: string;
  readonly draft?: boolean;
  /** Login; default: the owner of the repository. */
  readonly by?: string;
};

type PullRequestChange = {
  readonly title?: string;
  readonly body?: string | null;
  readonly base?: string;
  readonly draft?: boolean;
  readonly state?: 'open' | 'closed';
};

export type Control = RuleControl & {
  readonly newUser: (login: string, name?: string) => { readonly login: string; readonly token: string };
  /** The account is gone; what it wrote and did stays. */
  readonly deleteUser: (login: string) => void;
  readonly newRepository: (fullName: string, options?: NewRepository) => Promise<RepositoryHandle>;
  readonly fork: (fullName: string, owner: string) => Promise<RepositoryHandle>;
  readonly deleteRepository: (fullName: string) => void;
  /** Installs the App on another account and answers with the installation's id. */
  readonly install: (owner: string) => number;
  readonly uninstall: (owner: string) => void;
  readonly setAccess: (repository: string, login: string, access: Access) => void;
  readonly setMergeMethods: (repository: string, methods: readonly MergeMethod[]) => void;
  /** Commits and pushes, past all protection; answers with the commit. */
  readonly commit: (repository: string, commit: NewCommit) => Promise<string>;
  /** Moves or makes (a sha) or deletes (null) a branch, past all protection. */
  readonly setBranch: (repository: string, branch: string, sha: string | null, by?: string) => Promise<void>;
  readonly openPullRequest: (
    repository: string,
    wish: OpenPullRequest,
  ) => Promise<{ readonly number: number; readonly headSha: string }>;
  readonly changePullRequest: (
    repository: string,
    number: number,
    change: PullRequestChange,
    by?: string,
  ) => Promise<void>;
  /** As the site has it now. */
  readonly pullRequest: (repository: string, number: number) => Readonly<PullRequest>;
  /** Approves. */
  readonly approve: (repository: string, number: number, by: string) => void;
  /** `dismissed` takes back what that person said. */
  readonly review: (repository: string, number: number, by: string, word: ReviewState, body?: string) => void;
  /** Starts a conversation on the changes; answers with its id. */
  readonly startThread: (repository: string, number: number, by: string) => number;
  readonly resolveThread: (
    repository: string,
    number: number,
    id: number,
    by: string,
    isResolved?: boolean,
  ) => void;
  /** An issue that is no pull request; answers with its number. */
  readonly openIssue: (repository: string, title: string, by?: string) => number;
  /** Answers with the comment's id. */
  readonly comment: (repository: string, number: number, by: string, text: string) => number;
  readonly label: (
    repository: string,
    number: number,
    label: string,
    options?: { readonly on?: boolean; readonly by?: string },
  ) => Promise<void>;
  /** Called in the background for each branch that moves. */
  readonly onPush: (listener: (push: Push) => void | Promise<void>) => void;
};

export function createControl(site: Site, appHook: AppHook): Control {
  const find: Find = (fullName) => repositoryNamed(site, fullName);
  return {
    ...peopleControl(site, find),
    ...pullControl(site, find),
    ...issueControl(site, find),
    ...createRuleControl(site, appHook, find),
  };
}

const by = (site: Site, { owner }: Repository, login: string | undefined): Principal =>
  login === undefined ? { kind: 'user', account: owner } : personOf(site, login);

function peopleControl(site: Site, find: Find) {
  const handle = (repository: Repository): RepositoryHandle => {
    const fullName = `${repository.owner.login}/${repository.name}`;
    const { id, directory } = repository;
    return { id, fullName, directory, cloneUrl: `${site.url}/${fullName}.git` };
  };
  return {
    newUser: (login, name = login) => newUser(site, login, name),
    deleteUser: (login) => {
      site.accounts.delete(login.toLowerCase());
      for (const { access } of site.repositories.values()) access.delete(login.toLowerCase());
    },
    newRepository: async (fullName, options = {}) => handle(await newRepository(site, fullName, options)),
    fork: async (fullName, owner) => handle(await forkRepository(site, find(fullName), owner)),
    deleteRepository: (fullName) => {
      find(fullName);
      site.repositories.delete(fullName.toLowerCase());
    },
    install: (owner) => installOn(site, owner).id,
    uninstall: (owner) => uninstallFrom(site, owner),
    setAccess: (fullName, login, access) => void find(fullName).access.set(login.toLowerCase(), access),
    setMergeMethods: (fullName, methods) => {
      find(fullName).mergeMethods = methods;
    },
    commit: (fullName, commit) => pushFiles(site, find(fullName), commit),
    setBranch: (fullName, branch, sha, login) =>
      setBranch(site, find(fullName), branch, sha, by(site, find(fullName), login)),
    onPush: (listener) => void site.pushListeners.push(listener),
  } satisfies Partial<Control>;
}

function pullControl(site: Site, find: Find) {
  const pullOf = (repository: Repository, number: number): PullRequest => {
    const pull = repository.pulls.get(number);
    if (pull === undefined) throw new Error(`There is no pull request #${number}.`);
    return pull;
  };
  const review: Control['review'] = (fullName, number, login, word, body) => {
    const repository = find(fullName);
    const pull = pullOf(repository, number);
    const person = personOf(site, login);
    if (word === 'dismissed') dismissReviews(site, repository, pull, accountNamed(site, login), person);
    else reviewPull(site, repository, pull, word, person, body);
  };
  return {
    openPullRequest: async (fullName, wish) => {
      const repository = find(fullName);
      const { branch, files, base = repository.defaultBranch, title = `Change ${branch}` } = wish;
      const headRepository = wish.fork === undefined ? repository : find(wish.fork);
      const author = wish.by === undefined ? {} : { by: wish.by };
      if (files !== undefined)
        await pushFiles(site, headRepository, { branch, files, message: title, ...author });
      const pull = await site.inTurn(repository, () =>
        openPull(
          site,
          repository,
          {
            title,
            body: wish.body ?? null,
            headRepository,
            headRef: branch,
            baseRef: base,
            draft: wish.draft ?? false,
          },
          by(site, repository, wish.by),
        ),
      );
      return { number: pull.number, headSha: pull.headSha };
    },
    changePullRequest: (fullName, number, change, login) => {
      const repository = find(fullName);
      const pull = pullOf(repository, number);
      const principal = by(site, repository, login);
      return site.inTurn(repository, async () => {
        await editPull(site, repository, pull, change, principal);
        if (change.draft !== undefined) await setDraft(site, repository, pull, change.draft, principal);
        if (change.state === 'closed') await closePull(site, repository, pull, principal);
        if (change.state === 'open') await reopenPull(site, repository, pull, principal);
      });
    },
    pullRequest: (fullName, number) => pullOf(find(fullName), number),
    approve: (fullName, number, login) => review(fullName, number, login, 'approved'),
    review,
    startThread: (fullName, number, login) => {
      const repository = find(fullName);
      const thread = { id: site.nextId(), by: accountNamed(site, login), isResolved: false };
      pullOf(repository, number).threads.push(thread);
      return thread.id;
    },
    resolveThread: (fullName, number, id, login, isResolved = true) => {
      const repository = find(fullName);
      setThread(site, repository, pullOf(repository, number), id, isResolved, personOf(site, login));
    },
  } satisfies Partial<Control>;
}

function issueControl(site: Site, find: Find) {
  const issueOf = (repository: Repository, number: number): Issue => {
    const issue = findIssue(repository, number);
    if (issue === undefined) throw new Error(`There is no issue #${number}.`);
    return issue;
  };
  return {
    openIssue: (fullName, title, login) => {
      const repository = find(fullName);
      const now = site.clock.now();
      const number = (repository.lastNumber += 1);
      const author = login === undefined ? repository.owner : accountNamed(site, login);
      const issue: Issue = {
        id: site.nextId(),
        number,
        title,
        body: null,
        author,
        via: null,
        createdAt: now,
        updatedAt: now,
        state: 'open',
        closedAt: null,
        labels: [],
      };
      repository.issues.set(number, issue);
      return number;
    },
    comment: (fullName, number, login, text) => {
      const repository = find(fullName);
      return addComment(site, repository, issueOf(repository, number), text, personOf(site, login)).id;
    },
    label: async (fullName, number, name, { on = true, by: login } = {}) => {
      const repository = find(fullName);
      const label = findLabel(repository, name) ?? newLabel(site, repository, name);
      const principal = by(site, repository, login);
      await setLabel(site, repository, issueOf(repository, number), label, on, principal);
    },
  } satisfies Partial<Control>;
}
