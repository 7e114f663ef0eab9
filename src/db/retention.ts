// How long each table keeps its rows, or why it does not grow. `npm run docs` generates
// docs/reference/retention.md from it, and test/service/retention.test.ts runs the daily job on old rows of
// every table and checks that they are gone.

export type Retention =
  | {
      /** The time as text; names the setting if there is one. */
      readonly kept: string;
      readonly what: string;
    }
  | { readonly bounded: string; readonly what: string };

const history = '`SIGNALBOX_HISTORY_MONTHS`';
const records = '`SIGNALBOX_RECORD_MONTHS`';
const settings = 'people make its rows, as settings';

export const retention: Readonly<Record<string, Retention>> = {
  api_token: { what: 'API tokens, also revoked ones', bounded: settings },
  api_token_use: { what: 'quotas used by upload tokens, by day', kept: '40 days' },
  attempt: { what: 'attempts that ended', kept: `${history}, by month` },
  audit: { what: 'audit log', kept: records },
  commit_check: { what: 'check results of test commits, as they arrive', kept: '7 days' },
  content_use: { what: 'content created at a Git host', kept: '70 minutes' },
  culprit_comment: { what: 'comments that name the likely cause of broken tests', kept: '90 days' },
  failure_text: { what: 'texts of test failures', kept: '30 days after the last use' },
  health_settings: { what: 'settings of test health', bounded: 'one row for each repository' },
  host_connection: { what: 'connections to Git hosts', bounded: settings },
  impacted_targets: {
    what: 'impacted targets of heads',
    kept: '`SIGNALBOX_TARGET_DAYS`; 14 days for a head that was pushed over before it was tested; as long as the pull request is in a queue',
  },
  fix_verification: {
    what: 'verifications of fixes of tests',
    kept: '125 days after it ended, or as long as the test',
  },
  fix_verification_run: { what: 'CI runs that verify a fix', kept: 'with the verification' },
  job_strike: { what: 'jobs that stopped a process', kept: '7 days' },
  job_token: { what: 'tokens of CI jobs', kept: '40 days after they expired, usually minutes' },
  landing: { what: 'landings with their attestations', kept: records },
  landing_pull_request: { what: 'pull requests of landings', kept: records },
  no_access_reply: { what: 'answers to people without write access', kept: '90 days' },
  organization: { what: 'organizations', bounded: settings },
  person: { what: 'people who signed in', bounded: 'one row for each person' },
  processed_comment: { what: 'comments that were read as commands', kept: '90 days' },
  pull_request_head: { what: 'heads of pull requests', kept: '90 days' },
  queue: { what: 'queues, also deleted ones', bounded: settings },
  queue_entry: { what: 'pull requests that were submitted', kept: `${history} after they left the queue` },
  queue_fact: { what: 'what happened in queues', kept: `${history}, by month` },
  queue_plan: { what: 'the plan of a queue', bounded: 'one row for each queue' },
  queue_diagnosis: { what: 'what the doctor found for a queue last', bounded: 'one row for each queue' },
  queue_trouble: { what: 'times in which a queue stalled or was slow', kept: '90 days after they ended' },
  queue_usual: { what: 'how long a queue takes usually', bounded: 'one row for each queue' },
  repository: { what: 'repositories', bounded: 'one row for each repository' },
  repository_mirror: { what: 'mirrors that workers have', kept: '1 day after the worker was last seen' },
  sandbox_check: { what: 'check results of the sandbox host', kept: history },
  sandbox_ci: { what: 'CI runs of the sandbox host', kept: history },
  sandbox_comment: { what: 'comments of the sandbox host', kept: `${history}, with their pull request` },
  sandbox_issue: { what: 'issues of the sandbox host', kept: `${history} after they were closed` },
  sandbox_pull_request: {
    what: 'pull requests of the sandbox host',
    kept: `${history} after they were closed`,
  },
  sandbox_repository: { what: 'repositories of the sandbox host', bounded: 'one row for each repository' },
  server_key: { what: 'keys that the installation made', bounded: 'one row for each purpose' },
  session: { what: 'sessions of the dashboard', kept: '40 days after they expired, usually minutes' },
  status_comment: { what: 'status comments of pull requests', kept: `${history}, with the pull request` },
  test_breakage: { what: 'where tests broke', kept: '90 days after the test passes again, with the test' },
  test_case: { what: 'tests', kept: '45 days after the last report, unless a person has set something' },
  test_fact: { what: 'what happened to tests', kept: `${history}, by month` },
  test_failure: { what: 'single test failures', kept: '3 months' },
  test_failure_group: { what: 'kinds of failure of a test', kept: '125 days after the last one' },
  test_history: { what: 'recent results of tests that failed', kept: '45 days after the last failure' },
  test_incident: {
    what: 'tests that failed together, with their issue',
    kept: '125 days after it was closed, or when its tests are gone',
  },
  test_incident_test: { what: 'tests of an incident', kept: 'with the incident or the test' },
  test_job: { what: 'what CI jobs usually report', kept: '125 days after the last upload' },
  test_mute: { what: 'monitors that a person muted', kept: '30 days after the end' },
  test_numbering: { what: 'numbers of tests', bounded: 'one row for each repository' },
  test_rename: { what: 'former names of tests', kept: 'with the test' },
  test_rollup: { what: 'results of a test by the hour', kept: '8 days' },
  test_run: { what: 'test runs', kept: `${history}; with a landing, ${records}` },
  test_run_member: { what: 'pull requests of test runs', kept: 'with the test run' },
  test_segment: { what: 'durations of tests, by upload', kept: '3 months' },
  test_shape: { what: 'lists of tests that uploads have in common', kept: '125 days after the last use' },
  test_shape_hour: { what: 'uploads by the hour', kept: '15 days' },
  test_split: { what: 'durations of test files, as shards were answered', kept: '30 days' },
  upload: { what: 'uploads of test reports', kept: `${history}, by month` },
  upload_blob: { what: 'bytes of uploads', kept: '1 month' },
  webhook_delivery: { what: 'deliveries to webhook endpoints', kept: '14 days' },
  webhook_endpoint: { what: 'webhook endpoints, also deleted ones', bounded: settings },
  worker_heartbeat: { what: 'workers that are alive', kept: '15 seconds after the last sign of life' },
};
