// What the real submit sends, for those that send it without the server around it.

import type { entryRow } from '#db/row.ts';

export type Row = Readonly<Record<string, unknown>>;

type Submitted = {
  readonly queueId: string;
  readonly id: string;
  readonly now: string;
  readonly seniority: unknown;
  /** A row of sandbox_pull_request. */
  readonly pullRequest: Row;
};

/** The rows that the submission of a pull request is recorded as. */
export function submittedRows({ queueId, id, now, seniority, pullRequest }: Submitted): {
  readonly entry: Row;
  readonly fact: Row;
} {
  const { number, title, body, author, mergeability, draft, state } = pullRequest;
  const headSha = pullRequest['head_sha'];
  const baseBranch = pullRequest['base_branch'];
  const url = `https://sandbox.example/bench/widgets/pull/${String(number)}`;
  const entry = {
    queue_id: queueId,
    pr_number: number,
    id,
    attempt: 1,
    state: 'not_ready',
    state_changed_at: now,
    reason: null,
    test_run_id: null,
    priority: 100,
    used_default_priority: true,
    no_batch: false,
    forced: false,
    submitted_at: now,
    seniority,
    queued_at: null,
    concluded_at: null,
    wait_ms: 0,
    test_ms: 0,
    in_queue_ms: 0,
    restarts: 0,
    line_rank: 2,
    line_major: 0,
    line_minor: seniority,
    pr_title: title,
    pr_sha: headSha,
    pr_base_branch: baseBranch,
    pr_author: author,
    pr_fork: null,
    head_review: null,
    pr_url: url,
    pr_mergeability: mergeability,
    pr_draft: draft,
    pr_state: state,
    pr_body: body,
    commit_title: title,
    landing: false,
    end_requested: null,
    restart_requested: false,
  } satisfies Record<keyof ReturnType<typeof entryRow>, unknown>;
  const payload = {
    pullRequest: {
      number,
      title,
      body,
      headSha,
      baseBranch,
      author,
      fork: null,
      mergeability,
      draft,
      url,
      state,
    },
    seniority,
    priority: 100,
    usedDefaultPriority: true,
    noBatch: false,
    forced: false,
  };
  const fact = {
    n: 0,
    queue_id: queueId,
    recorded_at: now,
    pr_number: number,
    attempt: 1,
    kind: 'submitted',
    state: 'not_ready',
    reason: null,
    actor: 'api:bootstrap',
    test_run_id: null,
    restart: false,
    payload,
  };
  return { entry, fact };
}
