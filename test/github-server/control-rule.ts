// The hands of a test on what binds branches: rules, and what CI reports.

import { addRun, addStatus, changeRun, clickAction } from './check.ts';
import type { App, Hook, Protection, Repository, Ruleset, Site, Status } from './model.ts';
import { newApp } from './site.ts';
import { accountNamed, ensureAccount, personOf } from './stage.ts';
import { type AppHook, ping } from './webhook.ts';

export type Find = (fullName: string) => Repository;

type CheckReport = {
  readonly name: string;
  /** Null: it has begun and is not over. */
  readonly conclusion: string | null;
  readonly detailsUrl?: string;
  readonly title?: string;
  /** Slug of the App that reports it; default: that of CI. */
  readonly app?: string;
};

type NewRuleset = Partial<Omit<Ruleset, 'id' | 'createdAt'>> & Pick<Ruleset, 'rules'>;

/** What rules ask of a commit besides checks, such as `deployment production` or `workflow .github/workflows/x.yml`. */
type Fact = `deployment ${string}` | `workflow ${string}` | `code scanning ${string}` | 'license compliance';

export type RuleControl = {
  readonly setStatus: (
    repository: string,
    sha: string,
    status: Pick<Status, 'context' | 'state'> & Partial<Pick<Status, 'description' | 'targetUrl'>>,
    /** Login, of a bot too: what the bot of an App sets counts as set by the App. Default: the owner. */
    by?: string,
  ) => Promise<void>;
  /** Reports a check run of CI: the one that is under way by that name, or a new one. Answers with its id. */
  readonly completeCheckRun: (repository: string, sha: string, report: CheckReport) => Promise<number>;
  /** A person clicks an action of the last check run of this name. */
  readonly clickAction: (
    repository: string,
    sha: string,
    click: { readonly check: string; readonly identifier: string; readonly by: string },
  ) => Promise<void>;
  /** Null: the branch is no longer protected. */
  readonly protect: (repository: string, pattern: string, rules: Partial<Protection> | null) => void;
  readonly addRuleset: (repository: string, ruleset: NewRuleset) => number;
  readonly removeRuleset: (repository: string, id: number) => void;
  /** Another App; answers with its id. Its bot is `<slug>[bot]`. */
  readonly newApp: (slug: string) => number;
  /** A deployment, a workflow, a code scanning tool or the licenses have passed for a commit. */
  readonly meet: (repository: string, sha: string, fact: Fact) => void;
  readonly addHook: (repository: string, hook: Pick<Hook, 'url' | 'secret' | 'events'>) => number;
};

const unprotected: Omit<Protection, 'pattern'> = {
  checks: null,
  reviews: null,
  pushers: null,
  linearHistory: false,
  signatures: false,
  conversations: false,
  blockCreations: false,
  enforceAdmins: false,
  allowForcePushes: false,
  allowDeletions: false,
  locked: false,
};

export const createRuleControl = (site: Site, appHook: AppHook, find: Find): RuleControl => ({
  ...checkControl(site, find),
  ...ruleControl(site, find, appHook),
});

function appNamed({ apps }: Site, slug: string): App {
  const app = apps.find((one) => one.slug === slug);
  if (app === undefined) throw new Error(`There is no App ${slug}.`);
  return app;
}

function checkControl(site: Site, find: Find) {
  return {
    setStatus: async (fullName, sha, { context, state, description = null, targetUrl = null }, login) => {
      const repository = find(fullName);
      const status = { context, state, description, targetUrl };
      const principal =
        login === undefined ? { kind: 'user' as const, account: repository.owner } : personOf(site, login);
      await addStatus(site, repository, sha, status, principal);
    },
    completeCheckRun: async (fullName, sha, report) => {
      const { name, conclusion, detailsUrl, title = null, app: slug = site.ciApp.slug } = report;
      const repository = find(fullName);
      const app = appNamed(site, slug);
      const change = {
        status: conclusion === null ? ('in_progress' as const) : ('completed' as const),
        conclusion,
        output: { title, summary: null, text: null },
        ...(detailsUrl === undefined ? {} : { detailsUrl }),
      };
      const open = [...repository.runs.values()].findLast(
        (run) =>
          run.suite.sha === sha && run.suite.app === app && run.name === name && run.status !== 'completed',
      );
      if (open !== undefined) await changeRun(site, repository, open, change);
      return open?.id ?? (await addRun(site, repository, app, sha, { ...change, name })).id;
    },
    clickAction: async (fullName, sha, { check, identifier, by }) => {
      const repository = find(fullName);
      const run = [...repository.runs.values()].findLast(
        ({ name, suite }) => name === check && suite.sha === sha,
      );
      if (run === undefined) throw new Error(`There is no check run ${check}.`);
      await clickAction(site, repository, run, identifier, accountNamed(site, by));
    },
  } satisfies Partial<RuleControl>;
}

function ruleControl(site: Site, find: Find, appHook: AppHook) {
  return {
    protect: (fullName, pattern, rules) => {
      const repository = find(fullName);
      const others = repository.protections.filter((one) => one.pattern !== pattern);
      repository.protections = rules === null ? others : [...others, { ...unprotected, ...rules, pattern }];
    },
    addRuleset: (fullName, ruleset) => {
      const id = site.nextId();
      find(fullName).rulesets.push({
        name: 'Rules',
        enforcement: 'active',
        include: ['~DEFAULT_BRANCH'],
        exclude: [],
        bypassApps: [],
        bypassMode: 'always',
        bypassAdmins: false,
        ...ruleset,
        id,
        createdAt: site.clock.now(),
      });
      return id;
    },
    removeRuleset: (fullName, id) => {
      const { rulesets } = find(fullName);
      rulesets.splice(
        rulesets.findIndex((one) => one.id === id),
        1,
      );
    },
    newApp: (slug) => {
      const permissions = { checks: 'write', statuses: 'write' } as const;
      const app = newApp(site.nextId, site.clock, site.accounts, slug, { permissions, events: [] });
      site.apps.push(app);
      return app.id;
    },
    meet: (fullName, sha, fact) => void find(fullName).met.add(`${sha} ${fact}`),
    addHook: (fullName, hook) => {
      const repository = find(fullName);
      const added = { ...hook, id: site.nextId(), active: true, createdAt: site.clock.now() };
      repository.hooks.push(added);
      ping(site, appHook, repository, added, ensureAccount(site, repository.owner.login, 'Organization'));
      return added.id;
    },
  } satisfies Partial<RuleControl>;
}
