CREATE TABLE public.api_token (
    id text NOT NULL,
    organization_id uuid NOT NULL,
    hash bytea NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    repository_ids uuid[],
    identity jsonb
);

COMMENT ON COLUMN public.api_token.identity IS 'the CI jobs that it stands for: it has no secret; null: its secret was shown once';

CREATE TABLE public.api_token_use (
    api_token_id text NOT NULL,
    day date NOT NULL,
    uploads bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.attempt (
    queue_id uuid NOT NULL,
    concluded_at timestamp with time zone NOT NULL,
    pr_number bigint NOT NULL,
    attempt integer NOT NULL,
    conclusion text NOT NULL,
    reason text,
    submitted_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone,
    wait_ms bigint DEFAULT 0 NOT NULL,
    test_ms bigint DEFAULT 0 NOT NULL,
    in_queue_ms bigint DEFAULT 0 NOT NULL,
    restarts integer DEFAULT 0 NOT NULL,
    head_sha text DEFAULT ''::text NOT NULL
)
PARTITION BY RANGE (concluded_at);

CREATE TABLE public.audit (
    organization_id uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    seq bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    before jsonb,
    after jsonb
);

ALTER TABLE public.audit ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.commit_check (
    repository_id uuid NOT NULL,
    sha text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    body jsonb NOT NULL
);

CREATE TABLE public.content_use (
    budget text NOT NULL,
    at timestamp with time zone NOT NULL,
    count integer NOT NULL
);

CREATE TABLE public.culprit_comment (
    repository_id uuid NOT NULL,
    pr_number bigint NOT NULL,
    commit_sha text NOT NULL,
    comment_id text,
    text_hash text,
    tried_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE public.culprit_comment IS 'comments that name a landed pull request as the likely cause of broken tests: one for each landing';

COMMENT ON COLUMN public.culprit_comment.comment_id IS 'null: a worker may have written it, and did not record it';

CREATE TABLE public.queue_entry (
    queue_id uuid NOT NULL,
    pr_number bigint NOT NULL,
    id uuid NOT NULL,
    attempt integer DEFAULT 1 NOT NULL,
    state text DEFAULT 'not_ready'::text NOT NULL,
    state_changed_at timestamp with time zone DEFAULT now() NOT NULL,
    reason text,
    test_run_id uuid,
    priority smallint DEFAULT 100 NOT NULL,
    used_default_priority boolean DEFAULT true NOT NULL,
    no_batch boolean DEFAULT false NOT NULL,
    forced boolean DEFAULT false NOT NULL,
    submitted_at timestamp with time zone DEFAULT now() NOT NULL,
    seniority bigint NOT NULL,
    queued_at timestamp with time zone,
    concluded_at timestamp with time zone,
    wait_ms bigint DEFAULT 0 NOT NULL,
    test_ms bigint DEFAULT 0 NOT NULL,
    in_queue_ms bigint DEFAULT 0 NOT NULL,
    restarts integer DEFAULT 0 NOT NULL,
    line_rank smallint,
    line_major bigint,
    line_minor bigint,
    pr_title text NOT NULL,
    pr_sha text NOT NULL,
    pr_base_branch text NOT NULL,
    pr_author text NOT NULL,
    pr_url text NOT NULL,
    pr_mergeability text NOT NULL,
    pr_draft boolean DEFAULT false NOT NULL,
    pr_state text DEFAULT 'open'::text NOT NULL,
    plan jsonb,
    landing boolean DEFAULT false NOT NULL,
    end_requested text,
    restart_requested boolean DEFAULT false NOT NULL,
    probed_tip text,
    tested_on_tip text,
    commit_title text DEFAULT ''::text NOT NULL,
    pr_body text DEFAULT ''::text NOT NULL,
    pr_fork text,
    head_review jsonb,
    commit_identity jsonb
)
WITH (fillfactor='80');

CREATE VIEW public.entry AS
 SELECT queue_entry.queue_id,
    queue_entry.pr_number,
    queue_entry.id,
    queue_entry.attempt AS trip,
    queue_entry.state,
    queue_entry.state_changed_at,
    queue_entry.reason,
    queue_entry.test_run_id,
    queue_entry.priority,
    queue_entry.used_default_priority,
    queue_entry.no_batch,
    queue_entry.forced,
    queue_entry.submitted_at,
    queue_entry.seniority,
    queue_entry.queued_at,
    queue_entry.concluded_at,
    queue_entry.wait_ms,
    queue_entry.test_ms,
    queue_entry.in_queue_ms,
    queue_entry.restarts,
    queue_entry.line_rank,
    queue_entry.line_major,
    queue_entry.line_minor,
    queue_entry.pr_title,
    queue_entry.pr_sha,
    queue_entry.pr_base_branch,
    queue_entry.pr_author,
    queue_entry.pr_url,
    queue_entry.pr_mergeability,
    queue_entry.pr_draft,
    queue_entry.pr_state,
    queue_entry.plan,
    queue_entry.landing,
    queue_entry.end_requested,
    queue_entry.restart_requested,
    queue_entry.probed_tip,
    queue_entry.tested_on_tip,
    queue_entry.commit_title,
    queue_entry.pr_body,
    queue_entry.pr_fork,
    queue_entry.head_review,
    queue_entry.commit_identity
   FROM public.queue_entry;

CREATE SEQUENCE public.entry_seniority
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.queue_fact (
    queue_id uuid NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    seq bigint NOT NULL,
    pr_number bigint,
    attempt integer,
    kind text NOT NULL,
    state text,
    reason text,
    actor text NOT NULL,
    test_run_id uuid,
    restart boolean DEFAULT false NOT NULL,
    payload jsonb
)
PARTITION BY RANGE (recorded_at);

CREATE VIEW public.fact AS
 SELECT queue_fact.queue_id,
    queue_fact.recorded_at,
    queue_fact.seq,
    queue_fact.pr_number,
    queue_fact.attempt AS trip,
    queue_fact.kind,
    queue_fact.state,
    queue_fact.reason,
    queue_fact.actor,
    queue_fact.test_run_id,
    queue_fact.restart,
    queue_fact.payload
   FROM public.queue_fact;

CREATE TABLE public.failure_text (
    repository_id uuid NOT NULL,
    hash bytea NOT NULL,
    body bytea NOT NULL,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.fix_verification (
    repository_id uuid NOT NULL,
    id uuid NOT NULL,
    test_case_id uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    started_by text NOT NULL,
    fix_sha text,
    ends_at timestamp with time zone NOT NULL,
    since_sha text,
    examined_at timestamp with time zone NOT NULL,
    waits_for text,
    ended_at timestamp with time zone,
    outcome text,
    failed_sha text
);

COMMENT ON TABLE public.fix_verification IS 'fixes of tests that are verified; src/core/health/fix/fix-verification.ts';

COMMENT ON COLUMN public.fix_verification.fix_sha IS 'the commit of the fix; null: it was on the default branch when the verification began';

COMMENT ON COLUMN public.fix_verification.since_sha IS 'the first tip that was seen to contain the fix; null: none was';

COMMENT ON COLUMN public.fix_verification.examined_at IS 'failures of the test up to then were examined';

COMMENT ON COLUMN public.fix_verification.waits_for IS 'why no run is started; null: nothing';

COMMENT ON COLUMN public.fix_verification.outcome IS 'how it ended; null: it has not';

COMMENT ON COLUMN public.fix_verification.failed_sha IS 'the commit on which the test failed, if that ended it';

CREATE TABLE public.fix_verification_run (
    repository_id uuid NOT NULL,
    id uuid NOT NULL,
    verification_id uuid NOT NULL,
    base_sha text NOT NULL,
    sha text NOT NULL,
    test_branch text NOT NULL,
    repeats integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    pushed_at timestamp with time zone,
    ended_at timestamp with time zone,
    outcome text,
    reports integer DEFAULT 0 NOT NULL,
    clean_runs integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    is_removed boolean DEFAULT false NOT NULL
);

COMMENT ON TABLE public.fix_verification_run IS 'CI runs of one test alone, repeated, on the tip of the default branch';

COMMENT ON COLUMN public.fix_verification_run.sha IS 'its test commit: the tip again, with a message that names the test. It never lands';

COMMENT ON COLUMN public.fix_verification_run.repeats IS 'how often CI is asked to run the test';

COMMENT ON COLUMN public.fix_verification_run.outcome IS 'how it ended; null: it has not';

COMMENT ON COLUMN public.fix_verification_run.reports IS 'trusted uploads with a result of the test';

COMMENT ON COLUMN public.fix_verification_run.is_removed IS 'nothing of it is left at the Git host';

CREATE TABLE public.health_settings (
    repository_id uuid NOT NULL,
    settings jsonb NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.processed_comment (
    repository_id uuid NOT NULL,
    comment_id text NOT NULL,
    processed_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE VIEW public.heard_comment AS
 SELECT processed_comment.repository_id,
    processed_comment.comment_id,
    processed_comment.processed_at AS heard_at
   FROM public.processed_comment;

CREATE TABLE public.host_connection (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    host_key text NOT NULL,
    webhook_secret text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    url text DEFAULT ''::text NOT NULL,
    credentials bytea,
    app_id bigint,
    previous_webhook_secret text,
    previous_secret_until timestamp with time zone
);

CREATE TABLE public.impacted_targets (
    repository_id uuid NOT NULL,
    pr_number bigint NOT NULL,
    head_sha text NOT NULL,
    impacts_all boolean DEFAULT false NOT NULL,
    target_count integer DEFAULT 0 NOT NULL,
    hashes bytea DEFAULT '\x'::bytea NOT NULL,
    names bytea DEFAULT '\x'::bytea NOT NULL,
    uploaded_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.impacted_targets ALTER COLUMN hashes SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.impacted_targets ALTER COLUMN names SET STORAGE EXTERNAL;

CREATE TABLE public.job_strike (
    job_id bigint NOT NULL,
    task text NOT NULL,
    strikes integer DEFAULT 1 NOT NULL,
    struck_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.job_token (
    repository_id uuid NOT NULL,
    hash bytea NOT NULL,
    organization_id uuid NOT NULL,
    api_token_id text NOT NULL,
    job jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE public.job_token IS 'short tokens of CI jobs, each made from an identity token; src/db/account/job-token-store.ts';

COMMENT ON COLUMN public.job_token.hash IS 'the SHA-256 of the token, which itself is never stored';

COMMENT ON COLUMN public.job_token.api_token_id IS 'the token that lets the job in: revoked with it';

COMMENT ON COLUMN public.job_token.job IS 'the commit, branch or pull request that it may report about';

CREATE TABLE public.landing (
    queue_id uuid NOT NULL,
    number bigint NOT NULL,
    status text DEFAULT 'intended'::text NOT NULL,
    observed boolean DEFAULT false NOT NULL,
    proof text NOT NULL,
    test_run_id uuid,
    method text NOT NULL,
    mode text,
    base_sha text NOT NULL,
    tested_tree text,
    landed_sha text,
    landed_tree text,
    checks jsonb DEFAULT '[]'::jsonb NOT NULL,
    detail jsonb,
    intended_at timestamp with time zone NOT NULL,
    concluded_at timestamp with time zone,
    required_checks jsonb,
    rule_changes jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE public.landing_pull_request (
    queue_id uuid NOT NULL,
    number bigint NOT NULL,
    "position" integer NOT NULL,
    pr_number bigint NOT NULL,
    attempt integer NOT NULL,
    head_sha text NOT NULL,
    commit_sha text,
    forced boolean DEFAULT false NOT NULL
);

CREATE VIEW public.landing_member AS
 SELECT landing_pull_request.queue_id,
    landing_pull_request.number,
    landing_pull_request."position",
    landing_pull_request.pr_number,
    landing_pull_request.attempt AS trip,
    landing_pull_request.head_sha,
    landing_pull_request.commit_sha,
    landing_pull_request.forced
   FROM public.landing_pull_request;

CREATE TABLE public.no_access_reply (
    repository_id uuid NOT NULL,
    pr_number bigint NOT NULL,
    replied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.organization (
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.person (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    signed_in_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.pull_request_head (
    repository_id uuid NOT NULL,
    pr_number bigint NOT NULL,
    head_sha text NOT NULL,
    since timestamp with time zone,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.queue (
    id uuid NOT NULL,
    repository_id uuid NOT NULL,
    branch text NOT NULL,
    state text DEFAULT 'RUNNING'::text NOT NULL,
    mode text DEFAULT 'single'::text NOT NULL,
    switching_mode text,
    switching_return_to text,
    settings jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    branch_sha text,
    branch_epoch bigint DEFAULT 0 NOT NULL,
    host_away_at timestamp with time zone,
    state_reason text
);

CREATE TABLE public.queue_diagnosis (
    queue_id uuid NOT NULL,
    checked_at timestamp with time zone NOT NULL,
    findings jsonb NOT NULL,
    untriggered jsonb NOT NULL
);

COMMENT ON TABLE public.queue_diagnosis IS 'what the doctor found for a queue last; src/host/doctor.ts';

COMMENT ON COLUMN public.queue_diagnosis.findings IS 'in the order in which they were checked';

COMMENT ON COLUMN public.queue_diagnosis.untriggered IS 'paths of the workflows that nothing starts for test branches';

ALTER TABLE public.queue_fact ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.queue_fact_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.queue_plan (
    queue_id uuid NOT NULL,
    state jsonb NOT NULL,
    measured_at timestamp with time zone,
    start_p99_ms bigint,
    test_p99_ms bigint,
    test_p50_ms bigint,
    situation jsonb,
    ended_count integer,
    failed_count integer,
    passed_count integer,
    flaky_count integer
);

CREATE TABLE public.queue_trouble (
    queue_id uuid NOT NULL,
    kind text NOT NULL,
    began_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    clear_since timestamp with time zone,
    ended_at timestamp with time zone
);

COMMENT ON TABLE public.queue_trouble IS 'times in which a queue stalled or was slow; src/core/queue/watch/trouble.ts';

COMMENT ON COLUMN public.queue_trouble.kind IS 'stalled or slow';

COMMENT ON COLUMN public.queue_trouble.clear_since IS 'since when nothing of it is seen, while it is open; null: it is seen';

COMMENT ON COLUMN public.queue_trouble.ended_at IS 'null: it is open';

CREATE TABLE public.queue_usual (
    queue_id uuid NOT NULL,
    since timestamp with time zone NOT NULL,
    in_queue_ms bigint
);

COMMENT ON TABLE public.queue_usual IS 'how long a queue takes usually, pinned: what it is compared with does not follow it';

COMMENT ON COLUMN public.queue_usual.since IS 'merges from then on are measured';

COMMENT ON COLUMN public.queue_usual.in_queue_ms IS 'the median of the first merges since then; null: there are too few';

CREATE TABLE public.repository (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    host text NOT NULL,
    owner text NOT NULL,
    name text NOT NULL,
    host_key text NOT NULL,
    owner_key text NOT NULL,
    name_key text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    words_read_at timestamp with time zone DEFAULT now() NOT NULL,
    is_sandbox boolean DEFAULT false NOT NULL,
    host_id text,
    comments_read_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.repository_mirror (
    repository_id uuid NOT NULL,
    worker_id text NOT NULL,
    is_ready boolean DEFAULT false NOT NULL,
    percent smallint,
    received_bytes bigint DEFAULT 0 NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.sandbox_check (
    repository_id uuid NOT NULL,
    sha text NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    url text DEFAULT ''::text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    is_check_run boolean DEFAULT false NOT NULL,
    app text
);

CREATE TABLE public.sandbox_ci (
    repository_id uuid NOT NULL,
    branch text NOT NULL,
    sha text NOT NULL,
    attempt integer DEFAULT 1 NOT NULL,
    state text DEFAULT 'queued'::text NOT NULL,
    outcome text,
    due_at timestamp with time zone,
    log text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.sandbox_comment (
    id bigint NOT NULL,
    repository_id uuid NOT NULL,
    pr_number bigint NOT NULL,
    author text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.sandbox_comment ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sandbox_comment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.sandbox_issue (
    repository_id uuid NOT NULL,
    number integer NOT NULL,
    author text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    is_open boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.sandbox_pull_request (
    repository_id uuid NOT NULL,
    number bigint NOT NULL,
    title text NOT NULL,
    head_sha text NOT NULL,
    base_branch text NOT NULL,
    author text NOT NULL,
    mergeability text DEFAULT 'mergeable'::text NOT NULL,
    draft boolean DEFAULT false NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    body text DEFAULT ''::text NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    branch text,
    merge_sha text,
    disk_sha text,
    labels text[] DEFAULT '{}'::text[] NOT NULL,
    head_since timestamp with time zone,
    label_changes jsonb DEFAULT '{}'::jsonb NOT NULL,
    fork text,
    reviews jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE public.sandbox_repository (
    repository_id uuid NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE TABLE public.server_key (
    name text NOT NULL,
    key bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.session (
    hash bytea NOT NULL,
    organization_id uuid NOT NULL,
    api_token_id text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    person_id uuid,
    scopes text[],
    CONSTRAINT session_of_one CHECK ((num_nonnulls(api_token_id, person_id) = 1)),
    CONSTRAINT session_person_scopes CHECK (((person_id IS NULL) = (scopes IS NULL)))
);

CREATE TABLE public.status_comment (
    queue_id uuid NOT NULL,
    pr_number bigint NOT NULL,
    posted_state_at timestamp with time zone,
    written_at timestamp with time zone,
    text_hash text,
    comment_id text,
    comment_tried boolean DEFAULT false NOT NULL,
    by_label boolean DEFAULT false NOT NULL,
    label_used_at timestamp with time zone
);

CREATE VIEW public.stranger_answer AS
 SELECT no_access_reply.repository_id,
    no_access_reply.pr_number,
    no_access_reply.replied_at AS answered_at
   FROM public.no_access_reply;

CREATE VIEW public.telling AS
 SELECT status_comment.queue_id,
    status_comment.pr_number,
    status_comment.posted_state_at AS told_at,
    status_comment.written_at,
    status_comment.text_hash AS words_hash,
    status_comment.comment_id,
    status_comment.comment_tried,
    status_comment.by_label,
    status_comment.label_used_at
   FROM public.status_comment;

CREATE TABLE public.test_breakage (
    repository_id uuid NOT NULL,
    test_case_id uuid NOT NULL,
    passed_sha text NOT NULL,
    failed_sha text NOT NULL,
    broken_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    searched_at timestamp with time zone,
    candidates jsonb DEFAULT '[]'::jsonb NOT NULL,
    candidate_count integer DEFAULT 0 NOT NULL,
    is_complete boolean DEFAULT false NOT NULL,
    is_explained boolean DEFAULT false NOT NULL,
    culprit_pr bigint,
    culprit_sha text,
    culprit_reason text,
    commented_pr bigint,
    commented_sha text
);

COMMENT ON TABLE public.test_breakage IS 'the latest breakage of a test on the default branch; src/core/health/monitor/culprit.ts';

COMMENT ON COLUMN public.test_breakage.passed_sha IS 'the last commit on which it passed; empty: not known';

COMMENT ON COLUMN public.test_breakage.failed_sha IS 'the first commit on which it was seen failing';

COMMENT ON COLUMN public.test_breakage.broken_at IS 'when the test was classified as broken';

COMMENT ON COLUMN public.test_breakage.resolved_at IS 'when it was no longer broken; null: it is';

COMMENT ON COLUMN public.test_breakage.searched_at IS 'when the commits in between were listed; null: not yet';

COMMENT ON COLUMN public.test_breakage.candidates IS 'the first of those commits and pull requests, the likeliest first';

COMMENT ON COLUMN public.test_breakage.candidate_count IS 'how many there are';

COMMENT ON COLUMN public.test_breakage.is_complete IS 'whether every commit in between is known';

COMMENT ON COLUMN public.test_breakage.is_explained IS 'a mass failure or a known flake explains the failure: no comment is written';

COMMENT ON COLUMN public.test_breakage.culprit_pr IS 'the likeliest pull request; null: none is likelier than the others';

COMMENT ON COLUMN public.test_breakage.culprit_sha IS 'the commit that it landed as';

COMMENT ON COLUMN public.test_breakage.commented_pr IS 'the pull request with the comment about this breakage: there is at most one';

CREATE TABLE public.test_case (
    repository_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    variant text DEFAULT ''::text NOT NULL,
    file_path text,
    parent text,
    classname text,
    codeowners text[] DEFAULT '{}'::text[] NOT NULL,
    ticket_id text,
    status text DEFAULT 'healthy'::text NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    status_changed_at timestamp with time zone DEFAULT now() NOT NULL,
    quarantine_setting text DEFAULT 'AUTO_QUARANTINE'::text NOT NULL,
    quarantined_at timestamp with time zone,
    pull_requests_impacted_7d integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    quarantine_expires_at timestamp with time zone,
    quarantine_owner text,
    quarantine_note text,
    manual_status text,
    ordinal integer,
    quarantine_held_back text,
    quarantine_warned_days smallint
);

COMMENT ON COLUMN public.test_case.quarantine_held_back IS 'CRITICAL, CAP_TESTS, CAP_SHARE or ENDED: why the test is not quarantined although it should be; null: it is not held back';

COMMENT ON COLUMN public.test_case.quarantine_warned_days IS 'how many days before its end the last announcement was due; null: none was';

CREATE TABLE public.test_fact (
    repository_id uuid NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    seq bigint NOT NULL,
    test_case_id uuid NOT NULL,
    kind text NOT NULL,
    before jsonb NOT NULL,
    after jsonb NOT NULL,
    trigger jsonb NOT NULL,
    repeats integer
)
PARTITION BY RANGE (recorded_at);

COMMENT ON COLUMN public.test_fact.repeats IS 'of status_changed: how often the test showed its former status again while it had it; null: not recorded';

ALTER TABLE public.test_fact ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.test_fact_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.test_failure (
    repository_id uuid NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    test_case_id uuid NOT NULL,
    seq bigint NOT NULL,
    fingerprint bytea NOT NULL,
    pr_number bigint,
    upload_id uuid,
    sha text DEFAULT ''::text NOT NULL,
    branch_class text DEFAULT 'other'::text NOT NULL,
    outcome text DEFAULT 'failed'::text NOT NULL,
    attempts integer DEFAULT 1 NOT NULL,
    summary text DEFAULT ''::text NOT NULL,
    text_hash bytea,
    is_suspect boolean DEFAULT false NOT NULL,
    is_trusted boolean DEFAULT true NOT NULL,
    was_unhealthy boolean DEFAULT false NOT NULL,
    was_quarantined boolean DEFAULT false NOT NULL,
    verdict text DEFAULT 'unknown'::text NOT NULL,
    is_known boolean DEFAULT false NOT NULL
)
PARTITION BY RANGE (failed_at);

CREATE TABLE public.test_failure_group (
    repository_id uuid NOT NULL,
    test_case_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    summary text NOT NULL,
    occurrence_count integer DEFAULT 0 NOT NULL,
    last_occurrence timestamp with time zone NOT NULL,
    flake_count integer DEFAULT 0 NOT NULL,
    text_hash bytea
);

ALTER TABLE public.test_failure ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.test_failure_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.test_history (
    repository_id uuid NOT NULL,
    ordinal integer NOT NULL,
    test_case_id uuid NOT NULL,
    body bytea NOT NULL,
    active_monitors text[] DEFAULT '{}'::text[] NOT NULL,
    last_failed_at timestamp with time zone NOT NULL
)
WITH (fillfactor='60');
ALTER TABLE ONLY public.test_history ALTER COLUMN body SET STORAGE MAIN;

CREATE TABLE public.test_incident (
    repository_id uuid NOT NULL,
    id uuid NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    issue_number integer,
    issue_url text,
    requested_at timestamp with time zone,
    written_hash bytea,
    refusal text
);

CREATE TABLE public.test_incident_test (
    repository_id uuid NOT NULL,
    test_case_id uuid NOT NULL,
    incident_id uuid NOT NULL,
    joined_at timestamp with time zone NOT NULL
);

CREATE TABLE public.test_job (
    repository_id uuid NOT NULL,
    job text NOT NULL,
    variant text NOT NULL,
    branch_class text NOT NULL,
    failing_mean double precision DEFAULT 0 NOT NULL,
    uploads integer DEFAULT 0 NOT NULL,
    usual_shape bytea,
    usual_agreed integer DEFAULT 0 NOT NULL,
    usual_missed integer DEFAULT 0 NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.test_mute (
    repository_id uuid NOT NULL,
    test_case_id uuid NOT NULL,
    monitor text NOT NULL,
    until timestamp with time zone NOT NULL,
    reason text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.test_numbering (
    repository_id uuid NOT NULL,
    next_ordinal integer DEFAULT 0 NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    watch_version bigint DEFAULT 0 NOT NULL,
    codeowners_hash bytea,
    renames_from timestamp with time zone
);

COMMENT ON COLUMN public.test_numbering.renames_from IS 'uploads from then on are searched for renamed tests; null: none has to be';

CREATE TABLE public.test_rename (
    repository_id uuid NOT NULL,
    test_case_id uuid NOT NULL,
    former_id uuid NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    former_name text NOT NULL,
    former_file_path text,
    former_classname text,
    job text DEFAULT ''::text NOT NULL,
    variant text DEFAULT ''::text NOT NULL,
    branch text DEFAULT ''::text NOT NULL,
    sha text DEFAULT ''::text NOT NULL,
    renamed_at timestamp with time zone NOT NULL,
    agreed smallint DEFAULT 0 NOT NULL,
    returned smallint DEFAULT 0 NOT NULL,
    last_sha text DEFAULT ''::text NOT NULL,
    carries_quarantine boolean DEFAULT false NOT NULL,
    decided_by text,
    decided_at timestamp with time zone,
    carried jsonb
);

COMMENT ON TABLE public.test_rename IS 'tests that were renamed, and what was undone; src/core/health/rename/find-renames.ts';

COMMENT ON COLUMN public.test_rename.test_case_id IS 'the test under its present name';

COMMENT ON COLUMN public.test_rename.former_id IS 'the test under its former name; its row may be gone';

COMMENT ON COLUMN public.test_rename.kind IS 'moved: only its place changed; renamed: only its name changed; stated: a person said so';

COMMENT ON COLUMN public.test_rename.state IS 'suspected: seen once; active: the history is carried over; undone: a person undid it; ended: the former test is back';

COMMENT ON COLUMN public.test_rename.sha IS 'the first commit of the default branch with the present name; empty: a person stated the rename';

COMMENT ON COLUMN public.test_rename.agreed IS 'later commits with the present name and without the former one';

COMMENT ON COLUMN public.test_rename.returned IS 'commits in a row with the former name and without the present one';

COMMENT ON COLUMN public.test_rename.last_sha IS 'the last commit that was counted';

COMMENT ON COLUMN public.test_rename.carries_quarantine IS 'whether quarantine excuses what the former test was known for';

COMMENT ON COLUMN public.test_rename.decided_by IS 'who confirmed, stated or undid it; null: no one did';

COMMENT ON COLUMN public.test_rename.carried IS 'what people had set for the former test and was carried over, with what was there before';

CREATE TABLE public.test_rollup (
    repository_id uuid NOT NULL,
    test_case_id uuid NOT NULL,
    hour timestamp with time zone NOT NULL,
    runs integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.test_run (
    queue_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text DEFAULT 'main'::text NOT NULL,
    status text DEFAULT 'in_progress'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    concluded_at timestamp with time zone,
    test_branch text NOT NULL,
    test_branch_sha text,
    test_tree_sha text,
    base_sha text,
    required_statuses text[] DEFAULT '{}'::text[] NOT NULL,
    required_statuses_source text DEFAULT 'queue'::text NOT NULL,
    check_suites jsonb DEFAULT '[]'::jsonb NOT NULL,
    status_checks jsonb DEFAULT '[]'::jsonb NOT NULL,
    number bigint,
    phase text DEFAULT 'asked'::text NOT NULL,
    composition text DEFAULT ''::text NOT NULL,
    outcome text,
    outcome_detail jsonb,
    pushed_at timestamp with time zone,
    started_at timestamp with time zone,
    test_pr_number bigint,
    required_sources text[] DEFAULT '{}'::text[] NOT NULL,
    rule_changes jsonb DEFAULT '[]'::jsonb NOT NULL,
    stopped_count integer,
    saved_ms bigint,
    ahead bigint[],
    selected_tests uuid[],
    rerun_at timestamp with time zone,
    rerun_refusal text
);

COMMENT ON COLUMN public.test_run.outcome IS 'passed, failed, flaky, infrastructure, not_started, conflict, timed_out, cancelled; null while it is under way';

COMMENT ON COLUMN public.test_run.ahead IS 'what it is tested on top of, in order; null: that is in test_run_member';

COMMENT ON COLUMN public.test_run.selected_tests IS 'the test cases that it runs; null: all. Such a run proves no landing';

COMMENT ON COLUMN public.test_run.rerun_at IS 'when its failed jobs were last to run again; reports from before are about an earlier attempt';

COMMENT ON COLUMN public.test_run.rerun_refusal IS 'why the Git host did not run them again; null: it did not refuse';

CREATE TABLE public.test_run_member (
    queue_id uuid NOT NULL,
    test_run_id uuid NOT NULL,
    "position" integer NOT NULL,
    pr_number bigint NOT NULL,
    head_sha text NOT NULL,
    under_test boolean DEFAULT true NOT NULL
);

CREATE TABLE public.test_segment (
    repository_id uuid NOT NULL,
    uploaded_at timestamp with time zone NOT NULL,
    upload_id uuid NOT NULL,
    shape bytea NOT NULL,
    skipped bytea,
    body bytea NOT NULL
)
PARTITION BY RANGE (uploaded_at);
ALTER TABLE ONLY public.test_segment ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE public.test_shape (
    repository_id uuid NOT NULL,
    hash bytea NOT NULL,
    tests integer NOT NULL,
    first_ordinal integer NOT NULL,
    last_ordinal integer NOT NULL,
    body bytea NOT NULL,
    typical bytea DEFAULT '\x'::bytea NOT NULL,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.test_shape ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.test_shape ALTER COLUMN typical SET STORAGE EXTERNAL;

CREATE TABLE public.test_shape_hour (
    repository_id uuid NOT NULL,
    hour timestamp with time zone NOT NULL,
    shape bytea NOT NULL,
    branch_class text NOT NULL,
    runs integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.test_split (
    repository_id uuid NOT NULL,
    files_hash bytea NOT NULL,
    sha text NOT NULL,
    durations_ms integer[] NOT NULL,
    measured_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE public.test_split IS 'durations of test files, as the shards of a run on this commit divide them';

COMMENT ON COLUMN public.test_split.files_hash IS 'of the sorted list of files and the variant';

COMMENT ON COLUMN public.test_split.measured_at IS 'when the durations were computed: those of a commit before are used for some days';

CREATE VIEW public.trip AS
 SELECT attempt.queue_id,
    attempt.concluded_at,
    attempt.pr_number,
    attempt.attempt AS trip,
    attempt.conclusion,
    attempt.reason,
    attempt.submitted_at,
    attempt.queued_at,
    attempt.wait_ms,
    attempt.test_ms,
    attempt.in_queue_ms,
    attempt.restarts,
    attempt.head_sha
   FROM public.attempt;

CREATE TABLE public.upload (
    repository_id uuid NOT NULL,
    uploaded_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    door text NOT NULL,
    trust text NOT NULL,
    state text DEFAULT 'awaited'::text NOT NULL,
    content_hash bytea,
    content_bytes bigint,
    content_form text,
    duplicate_of uuid,
    sha text DEFAULT ''::text NOT NULL,
    branch text DEFAULT ''::text NOT NULL,
    branch_class text DEFAULT 'other'::text NOT NULL,
    pr_number bigint,
    variant text DEFAULT ''::text NOT NULL,
    job text DEFAULT ''::text NOT NULL,
    ci_run_id text DEFAULT ''::text NOT NULL,
    ci_attempt integer DEFAULT 1 NOT NULL,
    ci_url text DEFAULT ''::text NOT NULL,
    test_run_id uuid,
    uploader text DEFAULT ''::text NOT NULL,
    ingested_at timestamp with time zone,
    tests integer DEFAULT 0 NOT NULL,
    passed integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    flaky integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    quarantined integer DEFAULT 0 NOT NULL,
    usual_tests integer,
    missing_tests integer,
    is_suspect boolean DEFAULT false NOT NULL,
    problems jsonb DEFAULT '[]'::jsonb NOT NULL,
    is_complete boolean DEFAULT true NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    api_token_id text,
    can_select_tests boolean DEFAULT false NOT NULL
)
PARTITION BY RANGE (uploaded_at);

CREATE TABLE public.upload_blob (
    uploaded_at timestamp with time zone NOT NULL,
    upload_id uuid NOT NULL,
    part integer NOT NULL,
    bytes bytea NOT NULL
)
PARTITION BY RANGE (uploaded_at);
ALTER TABLE ONLY public.upload_blob ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE public.webhook_delivery (
    endpoint_id uuid NOT NULL,
    seq bigint NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    subject text NOT NULL,
    type text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    claimed_until timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    log jsonb DEFAULT '[]'::jsonb NOT NULL,
    delivered_at timestamp with time zone
);

ALTER TABLE public.webhook_delivery ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_delivery_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhook_endpoint (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    shown_url text NOT NULL,
    credentials bytea NOT NULL,
    event_types text[] DEFAULT '{}'::text[] NOT NULL,
    repository_ids uuid[],
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text DEFAULT ''::text NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason text,
    deleted_at timestamp with time zone,
    last_success_at timestamp with time zone,
    failing_since timestamp with time zone,
    failures_in_row integer DEFAULT 0 NOT NULL,
    last_failure text,
    paused_until timestamp with time zone
);

CREATE TABLE public.worker_heartbeat (
    worker_id text NOT NULL,
    beat_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_token_use
    ADD CONSTRAINT api_token_use_pkey PRIMARY KEY (api_token_id, day);

ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (queue_id, concluded_at, pr_number, attempt);

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (organization_id, at, seq);

ALTER TABLE ONLY public.commit_check
    ADD CONSTRAINT commit_check_pkey PRIMARY KEY (repository_id, sha, kind, name);

ALTER TABLE ONLY public.content_use
    ADD CONSTRAINT content_use_pkey PRIMARY KEY (budget, at);

ALTER TABLE ONLY public.culprit_comment
    ADD CONSTRAINT culprit_comment_pkey PRIMARY KEY (repository_id, pr_number, commit_sha);

ALTER TABLE ONLY public.failure_text
    ADD CONSTRAINT failure_text_pkey PRIMARY KEY (repository_id, hash);

ALTER TABLE ONLY public.fix_verification
    ADD CONSTRAINT fix_verification_pkey PRIMARY KEY (repository_id, id);

ALTER TABLE ONLY public.fix_verification_run
    ADD CONSTRAINT fix_verification_run_pkey PRIMARY KEY (repository_id, id);

ALTER TABLE ONLY public.health_settings
    ADD CONSTRAINT health_settings_pkey PRIMARY KEY (repository_id);

ALTER TABLE ONLY public.host_connection
    ADD CONSTRAINT host_connection_organization_id_kind_host_key_key UNIQUE (organization_id, kind, host_key);

ALTER TABLE ONLY public.host_connection
    ADD CONSTRAINT host_connection_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.impacted_targets
    ADD CONSTRAINT impacted_targets_pkey PRIMARY KEY (repository_id, pr_number, head_sha);

ALTER TABLE ONLY public.job_strike
    ADD CONSTRAINT job_strike_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY public.job_token
    ADD CONSTRAINT job_token_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.job_token
    ADD CONSTRAINT job_token_pkey PRIMARY KEY (repository_id, hash);

ALTER TABLE ONLY public.landing
    ADD CONSTRAINT landing_pkey PRIMARY KEY (queue_id, number);

ALTER TABLE ONLY public.landing_pull_request
    ADD CONSTRAINT landing_pull_request_pkey PRIMARY KEY (queue_id, number, "position");

ALTER TABLE ONLY public.no_access_reply
    ADD CONSTRAINT no_access_reply_pkey PRIMARY KEY (repository_id, pr_number);

ALTER TABLE ONLY public.organization
    ADD CONSTRAINT organization_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organization
    ADD CONSTRAINT organization_slug_key UNIQUE (slug);

ALTER TABLE ONLY public.person
    ADD CONSTRAINT person_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.processed_comment
    ADD CONSTRAINT processed_comment_pkey PRIMARY KEY (repository_id, comment_id);

ALTER TABLE ONLY public.pull_request_head
    ADD CONSTRAINT pull_request_head_pkey PRIMARY KEY (repository_id, pr_number, head_sha);

ALTER TABLE ONLY public.queue_diagnosis
    ADD CONSTRAINT queue_diagnosis_pkey PRIMARY KEY (queue_id);

ALTER TABLE ONLY public.queue_entry
    ADD CONSTRAINT queue_entry_pkey PRIMARY KEY (queue_id, pr_number);

ALTER TABLE ONLY public.queue_fact
    ADD CONSTRAINT queue_fact_pkey PRIMARY KEY (queue_id, recorded_at, seq);

ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.queue_plan
    ADD CONSTRAINT queue_plan_pkey PRIMARY KEY (queue_id);

ALTER TABLE ONLY public.queue_trouble
    ADD CONSTRAINT queue_trouble_pkey PRIMARY KEY (queue_id, kind, began_at);

ALTER TABLE ONLY public.queue_usual
    ADD CONSTRAINT queue_usual_pkey PRIMARY KEY (queue_id);

ALTER TABLE ONLY public.repository_mirror
    ADD CONSTRAINT repository_mirror_pkey PRIMARY KEY (repository_id, worker_id);

ALTER TABLE ONLY public.repository
    ADD CONSTRAINT repository_organization_id_host_key_owner_key_name_key_key UNIQUE (organization_id, host_key, owner_key, name_key);

ALTER TABLE ONLY public.repository
    ADD CONSTRAINT repository_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sandbox_check
    ADD CONSTRAINT sandbox_check_pkey PRIMARY KEY (repository_id, sha, name);

ALTER TABLE ONLY public.sandbox_ci
    ADD CONSTRAINT sandbox_ci_pkey PRIMARY KEY (repository_id, branch, sha);

ALTER TABLE ONLY public.sandbox_comment
    ADD CONSTRAINT sandbox_comment_pkey PRIMARY KEY (repository_id, pr_number, id);

ALTER TABLE ONLY public.sandbox_issue
    ADD CONSTRAINT sandbox_issue_pkey PRIMARY KEY (repository_id, number);

ALTER TABLE ONLY public.sandbox_pull_request
    ADD CONSTRAINT sandbox_pull_request_pkey PRIMARY KEY (repository_id, number);

ALTER TABLE ONLY public.sandbox_repository
    ADD CONSTRAINT sandbox_repository_pkey PRIMARY KEY (repository_id);

ALTER TABLE ONLY public.server_key
    ADD CONSTRAINT server_key_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.status_comment
    ADD CONSTRAINT status_comment_pkey PRIMARY KEY (queue_id, pr_number);

ALTER TABLE ONLY public.test_breakage
    ADD CONSTRAINT test_breakage_pkey PRIMARY KEY (repository_id, test_case_id);

ALTER TABLE ONLY public.test_case
    ADD CONSTRAINT test_case_pkey PRIMARY KEY (repository_id, id);

ALTER TABLE ONLY public.test_fact
    ADD CONSTRAINT test_fact_pkey PRIMARY KEY (repository_id, recorded_at, seq);

ALTER TABLE ONLY public.test_failure_group
    ADD CONSTRAINT test_failure_group_pkey PRIMARY KEY (repository_id, test_case_id, fingerprint);

ALTER TABLE ONLY public.test_failure
    ADD CONSTRAINT test_failure_pkey PRIMARY KEY (repository_id, failed_at, test_case_id, seq);

ALTER TABLE ONLY public.test_history
    ADD CONSTRAINT test_history_pkey PRIMARY KEY (repository_id, ordinal);

ALTER TABLE ONLY public.test_incident
    ADD CONSTRAINT test_incident_pkey PRIMARY KEY (repository_id, id);

ALTER TABLE ONLY public.test_incident_test
    ADD CONSTRAINT test_incident_test_pkey PRIMARY KEY (repository_id, test_case_id);

ALTER TABLE ONLY public.test_job
    ADD CONSTRAINT test_job_pkey PRIMARY KEY (repository_id, job, variant, branch_class);

ALTER TABLE ONLY public.test_mute
    ADD CONSTRAINT test_mute_pkey PRIMARY KEY (repository_id, test_case_id, monitor);

ALTER TABLE ONLY public.test_numbering
    ADD CONSTRAINT test_numbering_pkey PRIMARY KEY (repository_id);

ALTER TABLE ONLY public.test_rename
    ADD CONSTRAINT test_rename_pkey PRIMARY KEY (repository_id, test_case_id, former_id);

ALTER TABLE ONLY public.test_rollup
    ADD CONSTRAINT test_rollup_pkey PRIMARY KEY (repository_id, test_case_id, hour);

ALTER TABLE ONLY public.test_run_member
    ADD CONSTRAINT test_run_member_pkey PRIMARY KEY (queue_id, test_run_id, "position");

ALTER TABLE ONLY public.test_run
    ADD CONSTRAINT test_run_pkey PRIMARY KEY (queue_id, id);

ALTER TABLE ONLY public.test_segment
    ADD CONSTRAINT test_segment_pkey PRIMARY KEY (repository_id, uploaded_at, upload_id);

ALTER TABLE ONLY public.test_shape_hour
    ADD CONSTRAINT test_shape_hour_pkey PRIMARY KEY (repository_id, hour, shape, branch_class);

ALTER TABLE ONLY public.test_shape
    ADD CONSTRAINT test_shape_pkey PRIMARY KEY (repository_id, hash);

ALTER TABLE ONLY public.test_split
    ADD CONSTRAINT test_split_pkey PRIMARY KEY (repository_id, files_hash, sha);

ALTER TABLE ONLY public.upload_blob
    ADD CONSTRAINT upload_blob_pkey PRIMARY KEY (upload_id, uploaded_at, part);

ALTER TABLE ONLY public.upload
    ADD CONSTRAINT upload_pkey PRIMARY KEY (repository_id, uploaded_at, id);

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (endpoint_id, seq);

ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.worker_heartbeat
    ADD CONSTRAINT worker_heartbeat_pkey PRIMARY KEY (worker_id);

CREATE INDEX api_token_organization ON public.api_token USING btree (organization_id);

CREATE INDEX commit_check_age ON public.commit_check USING btree (reported_at);

CREATE INDEX fix_verification_of_test ON public.fix_verification USING btree (repository_id, test_case_id, started_at);

CREATE UNIQUE INDEX fix_verification_open ON public.fix_verification USING btree (repository_id, test_case_id) WHERE (ended_at IS NULL);

CREATE INDEX fix_verification_run_of ON public.fix_verification_run USING btree (repository_id, verification_id, started_at);

CREATE INDEX fix_verification_run_sha ON public.fix_verification_run USING btree (repository_id, sha);

CREATE INDEX fix_verification_run_unremoved ON public.fix_verification_run USING btree (repository_id) WHERE (NOT is_removed);

CREATE INDEX host_connection_real ON public.host_connection USING btree (host_key) WHERE (kind <> 'sandbox'::text);

CREATE INDEX job_token_expiry ON public.job_token USING btree (expires_at);

CREATE INDEX job_token_of ON public.job_token USING btree (api_token_id);

CREATE INDEX landing_open ON public.landing USING btree (queue_id) WHERE (NOT observed);

CREATE INDEX landing_pull_request_commit ON public.landing_pull_request USING btree (commit_sha);

CREATE INDEX landing_pull_request_newest ON public.landing_pull_request USING btree (queue_id, pr_number, number DESC);

CREATE INDEX landing_run ON public.landing USING btree (queue_id, test_run_id) WHERE (test_run_id IS NOT NULL);

CREATE INDEX landing_sha ON public.landing USING btree (landed_sha);

CREATE UNIQUE INDEX person_identity ON public.person USING btree (organization_id, issuer, subject);

CREATE UNIQUE INDEX person_name ON public.person USING btree (organization_id, lower(name));

CREATE INDEX processed_comment_age ON public.processed_comment USING btree (processed_at);

CREATE INDEX pull_request_head_age ON public.pull_request_head USING btree (seen_at);

CREATE UNIQUE INDEX queue_branch ON public.queue USING btree (repository_id, branch) WHERE (deleted_at IS NULL);

CREATE INDEX queue_entry_concluded ON public.queue_entry USING btree (queue_id, concluded_at DESC, seniority DESC) WHERE (concluded_at IS NOT NULL);

CREATE INDEX queue_entry_line ON public.queue_entry USING btree (queue_id, line_rank, line_major, line_minor, pr_number) WHERE (line_rank IS NOT NULL);

CREATE INDEX queue_entry_newest ON public.queue_entry USING btree (queue_id, seniority DESC);

CREATE INDEX queue_entry_planned ON public.queue_entry USING btree (queue_id) WHERE (plan IS NOT NULL);

CREATE INDEX queue_fact_entry ON ONLY public.queue_fact USING btree (queue_id, pr_number, recorded_at, seq) WHERE (pr_number IS NOT NULL);

CREATE INDEX queue_fact_of_queue ON ONLY public.queue_fact USING btree (queue_id, recorded_at) WHERE (pr_number IS NULL);

CREATE INDEX queue_fact_restart ON ONLY public.queue_fact USING btree (queue_id, recorded_at) WHERE restart;

CREATE INDEX queue_repository ON public.queue USING btree (repository_id);

CREATE UNIQUE INDEX queue_trouble_open ON public.queue_trouble USING btree (queue_id, kind) WHERE (ended_at IS NULL);

CREATE INDEX repository_host_id ON public.repository USING btree (organization_id, host_key, host_id) WHERE (host_id IS NOT NULL);

CREATE INDEX repository_mirror_worker ON public.repository_mirror USING btree (worker_id);

CREATE INDEX repository_real_host ON public.repository USING btree (host_key) WHERE (NOT is_sandbox);

CREATE INDEX sandbox_ci_sha ON public.sandbox_ci USING btree (repository_id, sha, attempt DESC);

CREATE INDEX sandbox_comment_since ON public.sandbox_comment USING btree (repository_id, updated_at);

CREATE INDEX sandbox_pull_request_from ON public.sandbox_pull_request USING btree (repository_id, branch) WHERE (state = 'open'::text);

CREATE INDEX sandbox_pull_request_unwritten ON public.sandbox_pull_request USING btree (repository_id, number) WHERE (disk_sha IS DISTINCT FROM head_sha);

CREATE INDEX session_expiry ON public.session USING btree (expires_at);

CREATE INDEX session_person ON public.session USING btree (person_id) WHERE (person_id IS NOT NULL);

CREATE INDEX session_token ON public.session USING btree (api_token_id);

CREATE INDEX test_breakage_commented ON public.test_breakage USING btree (repository_id, commented_sha) WHERE (commented_sha IS NOT NULL);

CREATE INDEX test_breakage_culprit ON public.test_breakage USING btree (repository_id, culprit_sha) WHERE (culprit_sha IS NOT NULL);

CREATE INDEX test_breakage_unsearched ON public.test_breakage USING btree (repository_id, broken_at) WHERE ((searched_at IS NULL) AND (resolved_at IS NULL));

CREATE UNIQUE INDEX test_case_ordinal ON public.test_case USING btree (repository_id, ordinal) WHERE (ordinal IS NOT NULL);

CREATE INDEX test_case_override ON public.test_case USING btree (repository_id, quarantine_expires_at) WHERE (quarantine_expires_at IS NOT NULL);

CREATE INDEX test_case_quarantined ON public.test_case USING btree (repository_id, quarantined_at DESC, id) WHERE (quarantined_at IS NOT NULL);

CREATE INDEX test_case_unhealthy ON public.test_case USING btree (repository_id, status, pull_requests_impacted_7d DESC, status_changed_at DESC, id) WHERE (status <> 'healthy'::text);

CREATE INDEX test_case_unnumbered ON public.test_case USING btree (repository_id) WHERE (ordinal IS NULL);

CREATE INDEX test_fact_by_test ON ONLY public.test_fact USING btree (repository_id, test_case_id, recorded_at);

CREATE INDEX test_failure_by_test ON ONLY public.test_failure USING btree (repository_id, test_case_id, failed_at);

CREATE INDEX test_failure_quarantined ON ONLY public.test_failure USING btree (repository_id, failed_at) WHERE was_quarantined;

CREATE INDEX test_history_active ON public.test_history USING btree (repository_id) WHERE (active_monitors <> '{}'::text[]);

CREATE UNIQUE INDEX test_history_case ON public.test_history USING btree (repository_id, test_case_id);

CREATE INDEX test_incident_test_incident ON public.test_incident_test USING btree (repository_id, incident_id);

CREATE UNIQUE INDEX test_rename_former ON public.test_rename USING btree (repository_id, former_id) WHERE (state = ANY (ARRAY['suspected'::text, 'active'::text]));

CREATE UNIQUE INDEX test_rename_test ON public.test_rename USING btree (repository_id, test_case_id) WHERE (state = ANY (ARRAY['suspected'::text, 'active'::text]));

CREATE INDEX test_run_active ON public.test_run USING btree (queue_id, created_at) WHERE (status = 'in_progress'::text);

CREATE INDEX test_run_commit ON public.test_run USING btree (queue_id, test_branch_sha) WHERE (test_branch_sha IS NOT NULL);

CREATE INDEX test_run_composition ON public.test_run USING btree (queue_id, sha256((composition)::bytea));

CREATE INDEX test_run_member_pull_request ON public.test_run_member USING btree (queue_id, pr_number, test_run_id DESC) WHERE under_test;

CREATE INDEX test_run_newest ON public.test_run USING btree (queue_id, created_at DESC, id DESC);

CREATE UNIQUE INDEX test_run_number ON public.test_run USING btree (queue_id, number);

CREATE INDEX test_run_open ON public.test_run USING btree (queue_id) WHERE (phase <> 'closed'::text);

CREATE INDEX test_run_saved ON public.test_run USING btree (queue_id, created_at) INCLUDE (saved_ms) WHERE (saved_ms > 0);

CREATE INDEX test_run_sha ON public.test_run USING btree (test_branch_sha) WHERE (status = 'in_progress'::text);

CREATE INDEX test_run_time ON public.test_run USING btree (queue_id, created_at) INCLUDE (pushed_at, concluded_at);

CREATE INDEX upload_by_content ON ONLY public.upload USING btree (repository_id, content_hash) WHERE (content_hash IS NOT NULL);

CREATE INDEX upload_by_source ON ONLY public.upload USING btree (repository_id, sha, uploaded_at);

CREATE INDEX upload_stored ON ONLY public.upload USING btree (repository_id, uploaded_at) WHERE (state = 'stored'::text);

CREATE INDEX upload_unread ON ONLY public.upload USING btree (repository_id, state, uploaded_at) WHERE (state <> 'ingested'::text);

CREATE INDEX upload_with_problems ON ONLY public.upload USING btree (repository_id, uploaded_at) WHERE (problems <> '[]'::jsonb);

CREATE INDEX webhook_delivery_created ON public.webhook_delivery USING btree (created_at);

CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (due_at) WHERE (status = 'pending'::text);

CREATE UNIQUE INDEX webhook_delivery_id ON public.webhook_delivery USING btree (endpoint_id, id);

CREATE INDEX webhook_delivery_subject ON public.webhook_delivery USING btree (endpoint_id, subject, seq) WHERE (status = 'pending'::text);

CREATE INDEX webhook_endpoint_organization ON public.webhook_endpoint USING btree (organization_id) WHERE (deleted_at IS NULL);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organization(id);

ALTER TABLE ONLY public.api_token_use
    ADD CONSTRAINT api_token_use_api_token_id_fkey FOREIGN KEY (api_token_id) REFERENCES public.api_token(id);

ALTER TABLE ONLY public.commit_check
    ADD CONSTRAINT commit_check_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.fix_verification
    ADD CONSTRAINT fix_verification_repository_id_test_case_id_fkey FOREIGN KEY (repository_id, test_case_id) REFERENCES public.test_case(repository_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.fix_verification_run
    ADD CONSTRAINT fix_verification_run_repository_id_verification_id_fkey FOREIGN KEY (repository_id, verification_id) REFERENCES public.fix_verification(repository_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.health_settings
    ADD CONSTRAINT health_settings_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.host_connection
    ADD CONSTRAINT host_connection_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organization(id);

ALTER TABLE ONLY public.impacted_targets
    ADD CONSTRAINT impacted_targets_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.job_token
    ADD CONSTRAINT job_token_api_token_id_fkey FOREIGN KEY (api_token_id) REFERENCES public.api_token(id);

ALTER TABLE ONLY public.job_token
    ADD CONSTRAINT job_token_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organization(id);

ALTER TABLE ONLY public.job_token
    ADD CONSTRAINT job_token_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.landing_pull_request
    ADD CONSTRAINT landing_pull_request_queue_id_number_fkey FOREIGN KEY (queue_id, number) REFERENCES public.landing(queue_id, number);

ALTER TABLE ONLY public.landing
    ADD CONSTRAINT landing_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id);

ALTER TABLE ONLY public.no_access_reply
    ADD CONSTRAINT no_access_reply_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.person
    ADD CONSTRAINT person_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organization(id);

ALTER TABLE ONLY public.processed_comment
    ADD CONSTRAINT processed_comment_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.pull_request_head
    ADD CONSTRAINT pull_request_head_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.queue_diagnosis
    ADD CONSTRAINT queue_diagnosis_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.queue_entry
    ADD CONSTRAINT queue_entry_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id);

ALTER TABLE ONLY public.queue_plan
    ADD CONSTRAINT queue_plan_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id);

ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.queue_trouble
    ADD CONSTRAINT queue_trouble_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.queue_usual
    ADD CONSTRAINT queue_usual_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.repository_mirror
    ADD CONSTRAINT repository_mirror_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.repository
    ADD CONSTRAINT repository_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organization(id);

ALTER TABLE ONLY public.sandbox_check
    ADD CONSTRAINT sandbox_check_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.sandbox_ci
    ADD CONSTRAINT sandbox_ci_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.sandbox_comment
    ADD CONSTRAINT sandbox_comment_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.sandbox_issue
    ADD CONSTRAINT sandbox_issue_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sandbox_pull_request
    ADD CONSTRAINT sandbox_pull_request_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.sandbox_repository
    ADD CONSTRAINT sandbox_repository_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_api_token_id_fkey FOREIGN KEY (api_token_id) REFERENCES public.api_token(id);

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organization(id);

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_person_id_fkey FOREIGN KEY (person_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.status_comment
    ADD CONSTRAINT status_comment_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id);

ALTER TABLE ONLY public.test_incident
    ADD CONSTRAINT test_incident_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.test_incident_test
    ADD CONSTRAINT test_incident_test_repository_id_incident_id_fkey FOREIGN KEY (repository_id, incident_id) REFERENCES public.test_incident(repository_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.test_incident_test
    ADD CONSTRAINT test_incident_test_repository_id_test_case_id_fkey FOREIGN KEY (repository_id, test_case_id) REFERENCES public.test_case(repository_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.test_numbering
    ADD CONSTRAINT test_numbering_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id);

ALTER TABLE ONLY public.test_rename
    ADD CONSTRAINT test_rename_repository_id_test_case_id_fkey FOREIGN KEY (repository_id, test_case_id) REFERENCES public.test_case(repository_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.test_run_member
    ADD CONSTRAINT test_run_member_queue_id_test_run_id_fkey FOREIGN KEY (queue_id, test_run_id) REFERENCES public.test_run(queue_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.test_run
    ADD CONSTRAINT test_run_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES public.queue(id);

ALTER TABLE ONLY public.test_split
    ADD CONSTRAINT test_split_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoint(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organization(id);
