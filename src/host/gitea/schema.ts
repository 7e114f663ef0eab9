// The parts of Gitea's and Forgejo's answers and webhooks that are read. Other fields are ignored: both add
// fields with every version, and omit or null what is empty.

import { z } from 'zod';

const User = z.object({ login: z.string() });
/** Empty: the account was deleted. */
const loginOf = User.nullish().transform((user) => user?.login ?? '');
const textOrNothing = z
  .string()
  .nullish()
  .transform((text) => text ?? '');
/** In milliseconds, by the host's clock, which has a resolution of seconds. */
const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const nullishList = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

export const Version = z.object({ version: z.string() });

export const Account = User;
export const NamedAccount = z.object({
  login: z.string(),
  full_name: z.string().default(''),
  email: z.string().default(''),
});

export const Trouble = z.object({ message: z.string() });

export const Repository = z.object({
  name: z.string(),
  owner: User,
  permissions: z.object({ admin: z.boolean(), push: z.boolean(), pull: z.boolean() }).nullish(),
  allow_merge_commits: z.boolean().default(false),
  allow_squash_merge: z.boolean().default(false),
  allow_rebase: z.boolean().default(false),
  allow_manual_merge: z.boolean().default(false),
});
export type Repository = z.infer<typeof Repository>;

export const ListedRepository = Repository.pick({ name: true, owner: true, permissions: true }).extend({
  default_branch: z.string(),
  archived: z.boolean().default(false),
});

export const Label = z.object({ id: z.int(), name: z.string() });
export type Label = z.infer<typeof Label>;

export const GiteaPullRequest = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: textOrNothing,
  state: z.string(),
  draft: z.boolean().nullish(),
  merged: z.boolean(),
  merge_commit_sha: z.string().nullish(),
  /** Also false for drafts, and while Gitea does not know yet. */
  mergeable: z.boolean(),
  html_url: z.string(),
  created_at: instant.optional(),
  updated_at: instant,
  user: loginOf,
  labels: nullishList(Label),
  base: z.object({ ref: z.string(), sha: z.string(), repo_id: z.int() }),
  head: z.object({
    /** The name of the head branch; empty for one that was pushed to `refs/for/` (services/convert/pull.go, AGit). */
    label: textOrNothing,
    ref: z.string(),
    sha: z.string(),
    /** -1 when the fork was deleted (services/convert/pull.go). */
    repo_id: z.int(),
    repo: z.object({ full_name: z.string() }).nullish(),
  }),
});
export type GiteaPullRequest = z.infer<typeof GiteaPullRequest>;

/** A branch, with the protection rule that applies to it. */
export const Branch = z.object({
  name: z.string(),
  commit: z.object({ id: z.string() }),
  protected: z.boolean(),
  enable_status_check: z.boolean().default(false),
  status_check_contexts: nullishList(z.string()),
  required_approvals: z.int().default(0),
  user_can_push: z.boolean(),
  user_can_merge: z.boolean(),
  /** Empty if Signalbox does not administer the repository. */
  effective_branch_protection_name: textOrNothing,
});
export type Branch = z.infer<typeof Branch>;

/** A protection rule; only administrators of the repository may read them. */
export const ProtectionRule = z.object({
  rule_name: z.string(),
  /** Lower values take precedence. Forgejo has none. */
  priority: z.int().default(0),
  block_on_outdated_branch: z.boolean().default(false),
  block_on_rejected_reviews: z.boolean().default(false),
  block_on_official_review_requests: z.boolean().default(false),
  ignore_stale_approvals: z.boolean().default(false),
});
export type ProtectionRule = z.infer<typeof ProtectionRule>;

/** Every field, including those that a later version adds. */
export const WholeRule = z.record(z.string(), z.unknown());

export const ContentList = z.array(
  z.object({ type: z.string(), name: z.string(), path: z.string(), size: z.int() }),
);
/** In base64. */
export const ContentFile = z.object({ content: z.string(), sha: z.string() });

const commitStates = ['pending', 'success', 'error', 'failure', 'warning', 'skipped'] as const;
/** A state that a later version may add has not passed. */
const CommitState = z.enum(commitStates).catch('error');
export type CommitState = z.infer<typeof CommitState>;

export const CommitStatus = z.object({
  context: z.string(),
  status: CommitState,
  description: textOrNothing.optional(),
  target_url: textOrNothing,
  created_at: instant,
  creator: loginOf,
});
export type CommitStatus = z.infer<typeof CommitStatus>;

/** The latest status of each context. */
export const CombinedStatus = z.object({ statuses: nullishList(CommitStatus) });

export const GiteaComment = z.object({
  id: z.int(),
  user: loginOf,
  body: textOrNothing,
  /** Empty: it is on an issue. */
  pull_request_url: textOrNothing,
  created_at: instant,
  /** Later than `created_at` if it was edited. */
  updated_at: instant,
});
export type GiteaComment = z.infer<typeof GiteaComment>;

export const GiteaIssue = z.object({
  number: z.int(),
  html_url: z.string(),
  user: loginOf,
  body: textOrNothing,
});
export type GiteaIssue = z.infer<typeof GiteaIssue>;

/** An entry of the timeline of a pull request (Gitea services/convert/issue_comment.go, ToTimelineComment). */
export const TimelineEntry = z.object({
  type: z.string(),
  user: loginOf,
  /** For a label: `1` if it was added, empty if it was removed (models/issues/issue_label.go). */
  body: textOrNothing,
  label: z.object({ name: z.string() }).nullish(),
  created_at: instant,
});
export type TimelineEntry = z.infer<typeof TimelineEntry>;

export const GiteaReview = z.object({
  state: z.string(),
  /** By a reviewer whose review counts for the branch. */
  official: z.boolean().default(false),
  /** From before the last push. */
  stale: z.boolean().default(false),
  dismissed: z.boolean().default(false),
});
export type GiteaReview = z.infer<typeof GiteaReview>;

/** With its reviewer and the commit that was reviewed (services/convert/pull_review.go). */
export const ReviewOfCommit = GiteaReview.extend({ user: loginOf, commit_id: textOrNothing });

export const CollaboratorPermission = z.object({ permission: z.string() });

export const Dependency = z.object({ number: z.int(), state: z.string() });

export const Hook = z.object({
  id: z.int(),
  active: z.boolean(),
  events: nullishList(z.string()),
  branch_filter: textOrNothing,
  authorization_header: textOrNothing,
  config: z.object({ url: z.string() }),
});
export type Hook = z.infer<typeof Hook>;

/** Of the OAuth application. */
export const RenewedToken = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  /** Seconds. */
  expires_in: z.number().positive(),
});

const payload = { repository: z.object({ name: z.string(), owner: User }), sender: loginOf };

/** Commits are looked up by it as they arrive. */
const CommitSha = z.string().regex(/^[0-9a-f]{40,64}$/);

/** Webhook payloads are recognized by their content: the names of the events differ between versions. */
export const StatusPayload = z.object({
  ...payload,
  sha: CommitSha,
  context: z.string(),
  state: CommitState,
  description: textOrNothing.optional(),
  target_url: textOrNothing,
  created_at: instant,
});

/** Lists that are not as expected lose nothing but a hint. */
const paths = z.array(z.string()).catch([]);
export const PushPayload = z.object({
  ...payload,
  ref: z.string(),
  before: z.string(),
  after: z.string(),
  /** The newest ones (Gitea modules/setting, `FEED_MAX_COMMIT_NUM`). */
  commits: z.array(z.object({ added: paths, modified: paths, removed: paths })).catch([]),
});

/** A created ref, with its commit, or a deleted one. */
export const RefPayload = z.object({
  ...payload,
  ref: z.string(),
  ref_type: z.string(),
  sha: z.string().optional(),
});

export const CommentPayload = z.object({
  ...payload,
  action: z.string(),
  is_pull: z.boolean(),
  issue: z.object({ number: z.int().positive() }),
  comment: z.object({
    id: z.int(),
    user: loginOf,
    body: textOrNothing,
    created_at: instant,
    updated_at: instant,
  }),
});

export const PullRequestPayload = z.object({
  ...payload,
  action: z.string(),
  number: z.int().positive(),
  pull_request: z.object({
    labels: nullishList(z.object({ name: z.string() })),
    head: z.object({ sha: z.string() }),
  }),
});
export type PullRequestPayload = z.infer<typeof PullRequestPayload>;

/** Of Gitea Actions: `status` is `completed` once a run has ended. */
export const WorkflowRuns = z.object({
  workflow_runs: z.array(z.object({ id: z.number(), status: z.string() })),
});
