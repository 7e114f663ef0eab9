// The parts of GitHub's answers and webhooks that Signalbox reads. Each URL is read with one of these
// schemas, because the parsed answer is cached.

import { z } from 'zod';

const account = z.object({ login: z.string() });

export const InstallationToken = z.object({ token: z.string(), expires_at: z.string() });

export const GraphqlAnswer = z.object({
  data: z.unknown(),
  errors: z
    .array(
      z.object({
        type: z.string().optional(),
        message: z.string(),
        path: z.array(z.union([z.string(), z.int()])).optional(),
      }),
    )
    .optional(),
});

/** For answers whose content is not used. */
export const Anything = z.unknown();

export const GithubPullRequest = z.object({
  number: z.int().positive(),
  node_id: z.string().optional(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']),
  draft: z.boolean().optional(),
  merged: z.boolean(),
  /** For a merged pull request: the commit that merged it. For an open one: the trial merge. */
  merge_commit_sha: z.string().nullish(),
  /** Null: GitHub is still computing it. */
  mergeable: z.boolean().nullable(),
  mergeable_state: z.string(),
  /** `repo` is null when the fork was deleted (GitHub REST docs, "Pull requests", schema of `head.repo`). */
  head: z.object({
    sha: z.string(),
    ref: z.string().optional(),
    repo: z.object({ id: z.int(), full_name: z.string() }).nullish(),
  }),
  base: z.object({
    ref: z.string(),
    repo: z.object({ id: z.int(), node_id: z.string().optional() }).optional(),
  }),
  user: account.nullable(),
  /** Absent if it was read by GraphQL. */
  labels: z.array(z.object({ name: z.string() })).optional(),
  html_url: z.string(),
  created_at: z.string().optional(),
  updated_at: z.string(),
});
export type GithubPullRequest = z.infer<typeof GithubPullRequest>;

/** Null where it is read: no review is required. */
export const ReviewDecision = z.enum(['APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED']);
export type ReviewDecision = z.infer<typeof ReviewDecision>;

/** The reviews of a pull request in GraphQL. */
export const reviewFields = {
  reviewDecision: ReviewDecision.nullable(),
  reviewThreads: z.object({
    nodes: z.array(z.object({ isResolved: z.boolean() }).nullable()).nullable(),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
  }),
  baseRef: z
    .object({ refUpdateRule: z.object({ requiresConversationResolution: z.boolean() }).nullable() })
    .nullable(),
};

export const ReviewAnswer = z.object({
  repository: z
    .object({
      pullRequest: z.object(reviewFields).nullable(),
    })
    .nullable(),
});
export const PullRequestReviews = z.array(
  z.object({ user: account.nullable(), state: z.string(), commit_id: z.string().nullable() }),
);

/** Of a list. */
export const ListedPullRequests = z.array(
  z.object({ number: z.int().positive(), head: z.object({ ref: z.string(), sha: z.string() }) }),
);

export const Numbered = z.object({ number: z.int().positive() });
export const Identified = z.object({ id: z.int().positive(), node_id: z.string().optional() });
export type Identified = z.infer<typeof Identified>;

export const WrittenIssue = z.object({ number: z.int().positive(), html_url: z.string() });
export type WrittenIssue = z.infer<typeof WrittenIssue>;

export const GithubIssues = z.array(
  WrittenIssue.extend({
    body: z.string().nullish(),
    user: account.nullable(),
    performed_via_github_app: z.object({ id: z.int() }).nullish(),
    /** Present: it is a pull request. */
    pull_request: z.unknown().optional(),
  }),
);
export type GithubIssue = z.infer<typeof GithubIssues>[number];

export const CheckRun = z.object({
  id: z.int().positive(),
  node_id: z.string().optional(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullable(),
  details_url: z.string().nullish(),
  html_url: z.string().nullish(),
  started_at: z.string().nullish(),
  completed_at: z.string().nullish(),
  check_suite: z.object({ id: z.int() }).nullish(),
  app: z.object({ id: z.int() }).nullish(),
});
export type CheckRun = z.infer<typeof CheckRun>;
export const CheckRuns = z.object({ check_runs: z.array(CheckRun) });

export const Status = z.object({
  context: z.string(),
  state: z.enum(['pending', 'success', 'failure', 'error']),
  target_url: z.string().nullish(),
  updated_at: z.string(),
  creator: account.nullish(),
});
export type Status = z.infer<typeof Status>;
export const CombinedStatus = z.object({ statuses: z.array(Status) });

/** Also read by those who may not see the whole of the protection. */
export const GithubBranch = z.object({
  name: z.string(),
  commit: z.object({ sha: z.string() }),
  protected: z.boolean(),
  protection: z
    .object({
      enabled: z.boolean().optional(),
      required_status_checks: z
        .object({
          contexts: z.array(z.string()),
          checks: z.array(z.object({ context: z.string(), app_id: z.int().nullish() })).nullish(),
        })
        .nullish(),
    })
    .nullish(),
});

export type GithubBranch = z.infer<typeof GithubBranch>;

const switched = z.object({ enabled: z.boolean() }).nullish();
const slugs = z.array(z.object({ slug: z.string() })).nullish();
const logins = z.array(account).nullish();

/** Only for those who may administer. */
export const Protection = z.object({
  required_status_checks: z
    .object({ strict: z.boolean().nullish(), contexts: z.array(z.string()) })
    .nullish(),
  required_pull_request_reviews: z
    .object({
      required_approving_review_count: z.number().nullish(),
      bypass_pull_request_allowances: z.object({ apps: slugs, users: logins }).nullish(),
    })
    .nullish(),
  restrictions: z.object({ apps: slugs, users: logins, teams: slugs }).nullish(),
  enforce_admins: switched,
  required_linear_history: switched,
  required_conversation_resolution: switched,
  required_signatures: switched,
  lock_branch: switched,
});
export type Protection = z.infer<typeof Protection>;

/** A rule of a ruleset, on a branch. */
export const Rule = z.object({
  type: z.string(),
  ruleset_id: z.int().optional(),
  parameters: z
    .object({
      required_status_checks: z
        .array(z.object({ context: z.string(), integration_id: z.int().nullish() }))
        .optional(),
      strict_required_status_checks_policy: z.boolean().optional(),
      do_not_enforce_on_create: z.boolean().optional(),
      required_approving_review_count: z.number().optional(),
      require_code_owner_review: z.boolean().optional(),
      require_last_push_approval: z.boolean().optional(),
      allowed_merge_methods: z.array(z.string()).optional(),
      required_review_thread_resolution: z.boolean().optional(),
      required_reviewers: z.array(z.object({ minimum_approvals: z.number() })).optional(),
    })
    .optional(),
});
export type Rule = z.infer<typeof Rule>;
export const Rules = z.array(Rule);

const bypassActor = z.object({ actor_id: z.int().nullish(), actor_type: z.string() });
export type BypassActor = z.infer<typeof bypassActor>;

export const Ruleset = z.object({
  name: z.string(),
  current_user_can_bypass: z.string().optional(),
  /** Only for those who may edit the ruleset. */
  bypass_actors: z.array(bypassActor).optional(),
});

export const GithubRepository = z.object({
  name: z.string(),
  owner: account,
  permissions: z
    .object({ admin: z.boolean().optional(), push: z.boolean().optional(), pull: z.boolean().optional() })
    .optional(),
  allow_merge_commit: z.boolean().optional(),
  allow_squash_merge: z.boolean().optional(),
  allow_rebase_merge: z.boolean().optional(),
});
export type GithubRepository = z.infer<typeof GithubRepository>;

const listedRepository = z.object({
  name: z.string(),
  owner: account,
  default_branch: z.string(),
  archived: z.boolean().optional(),
  permissions: GithubRepository.shape.permissions,
});
export const ListedRepositories = z.array(listedRepository);
/** Of an installation. */
export const InstalledRepositories = z.object({ repositories: ListedRepositories });

/** An App in a repository. */
export const Installation = z.object({
  id: z.int(),
  /** Null: it is gone. */
  account: z.object({ id: z.int(), login: z.string().optional() }).nullish(),
  app_slug: z.string(),
  permissions: z.record(z.string(), z.string()),
  events: z.array(z.string()),
  suspended_at: z.string().nullish(),
});
export type Installation = z.infer<typeof Installation>;
export const Installations = z.array(Installation);

export const RegisteredApp = z.object({
  slug: z.string(),
  html_url: z.url(),
  owner: z.object({ id: z.int() }),
});

export const WorkflowPermissions = z.object({ default_workflow_permissions: z.string() });

export const ContentList = z.array(
  z.object({ type: z.string(), name: z.string(), path: z.string(), size: z.int() }),
);
/** In base64, with line breaks. */
export const ContentFile = z.object({ content: z.string(), sha: z.string() });
export const GitRef = z.object({ object: z.object({ sha: z.string() }) });

export const HookConfig = z.object({ url: z.string().optional() });
export const HookDeliveries = z.array(z.object({ status_code: z.int() }));
export const Hooks = z.array(
  z.object({
    active: z.boolean(),
    events: z.array(z.string()),
    config: z.object({ url: z.string().optional() }),
    last_response: z.object({ code: z.int().nullish() }).nullish(),
  }),
);

export const Meta = z.object({ installed_version: z.string().optional() });
export const OwnAccount = account;
export const NamedAccount = z.object({ id: z.int(), login: z.string(), name: z.string().nullish() });

export const CollaboratorPermission = z.object({ permission: z.string() });

export const Merged = z.object({ sha: z.string(), merged: z.boolean() });

export const GithubComment = z.object({
  id: z.int().positive(),
  body: z.string().nullish(),
  user: account.nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  html_url: z.string(),
  performed_via_github_app: z.object({ id: z.int() }).nullish(),
});
export type GithubComment = z.infer<typeof GithubComment>;
export const Comments = z.array(GithubComment);

const label = z.object({ name: z.string() });
export const Labels = z.array(label);

const issue = z.object({
  number: z.int().positive(),
  /** Absent: it is not a pull request. */
  pull_request: z.unknown(),
  updated_at: z.string(),
});
export type Issue = z.infer<typeof issue>;
export const Issues = z.array(issue);

const issueEvent = z.object({
  event: z.string(),
  created_at: z.string(),
  actor: account.nullable(),
  performed_via_github_app: z.object({ id: z.int() }).nullish(),
  label: label.nullish(),
  issue: z.object({ number: z.int().positive() }).nullish(),
});
export type IssueEvent = z.infer<typeof issueEvent>;
export const IssueEvents = z.array(issueEvent);

/** Pushes to a branch, newest first. */
export const Activities = z.array(z.object({ after: z.string(), timestamp: z.string() }));

// Webhooks, by the name of the event.

/** Commits are looked up by it as they arrive. */
const CommitSha = z.string().regex(/^[0-9a-f]{40,64}$/);

const repository = z.object({ id: z.int().optional(), name: z.string(), owner: account });

export const PullRequestEvent = z.object({
  action: z.string(),
  number: z.int().positive(),
  repository,
  label: label.optional(),
  pull_request: z.object({
    head: z.object({ sha: z.string() }),
    labels: Labels.default([]),
    updated_at: z.string(),
  }),
});

const numbered = z.object({ number: z.int().positive() });
export const ReviewEvent = z.object({
  action: z.string(),
  review: z.object({ state: z.string() }),
  pull_request: numbered,
  repository,
});

export const ThreadEvent = z.object({ action: z.string(), pull_request: numbered, repository });

export const CommentEvent = z.object({
  action: z.string(),
  issue: z.object({ number: z.int().positive(), pull_request: z.unknown() }),
  comment: z.object({
    id: z.int().positive(),
    body: z.string().nullish(),
    user: account.nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    performed_via_github_app: z.object({ id: z.int() }).nullish(),
  }),
  repository,
});

export const CheckRunEvent = z.object({
  action: z.string(),
  check_run: CheckRun.extend({ head_sha: CommitSha, external_id: z.string().nullish() }),
  /** With the action `requested_action`. */
  requested_action: z.object({ identifier: z.string() }).optional(),
  sender: account.nullish(),
  repository,
});
export type CheckRunEvent = z.infer<typeof CheckRunEvent>;

export const StatusEvent = Status.extend({ sha: CommitSha, repository, sender: account.nullish() });

/** GitHub webhook docs, `repository`: `renamed` and `transferred` name the repository as it is called now. */
export const RepositoryEvent = z.object({ action: z.string(), repository });

/** Lists that are not as expected lose nothing but a hint. */
const paths = z.array(z.string()).catch([]);
export const PushEvent = z.object({
  ref: z.string(),
  after: z.string(),
  deleted: z.boolean(),
  /** At most 2,048 (GitHub webhook docs, `push`). */
  commits: z.array(z.object({ added: paths, modified: paths, removed: paths })).catch([]),
  repository,
});

/** Of GitHub Actions: `status` is `completed` once a run has ended. */
export const WorkflowRuns = z.object({
  workflow_runs: z.array(
    z.object({
      id: z.number(),
      status: z.string().nullable(),
      check_suite_id: z.number().optional(),
      /** When its last attempt began. */
      run_started_at: z.string().optional(),
    }),
  ),
});
