// The import ladder: which folders of src/ a folder may import from. The one table behind the lint's
// allow-lists (.oxlintrc.json) and the folder tables of ARCHITECTURE.md; test/project/tidy.test.ts compares all three.

export type FolderRule = {
  readonly folder: string;
  readonly imports: readonly string[];
  readonly holds: string;
};

export const ladder: readonly FolderRule[] = [
  {
    folder: 'base',
    imports: [],
    holds: 'assertions, the error registry, branded ids, the Clock and Log types',
  },
  {
    folder: 'core',
    imports: ['base'],
    holds: 'the pure decisions: no IO, clock, randomness or npm package',
  },
  {
    folder: 'contract',
    imports: ['base', 'core'],
    holds: 'the wire: schemas of every request and response, and the OpenAPI document made from them',
  },
  { folder: 'config', imports: ['base', 'core'], holds: 'the environment, parsed once and strictly' },
  {
    folder: 'report',
    imports: ['base', 'core'],
    holds: 'uploaded bytes to test cases: bundles, JUnit XML in its dialects, CTRF; streaming and bounded',
  },
  { folder: 'blob', imports: ['base'], holds: 'where the bytes of uploads are kept: the interface, and S3' },
  {
    folder: 'git',
    imports: ['base'],
    holds:
      'the git binary: the small process that starts it, mirrors of repositories, test commits built from pull requests, pushes',
  },
  {
    folder: 'host',
    imports: ['base', 'core', 'git'],
    holds: 'the Host interface and its implementations; the sandbox is a complete host',
  },
  {
    folder: 'db',
    imports: ['base', 'core', 'blob'],
    holds: 'cells, transactions, jobs; stores write, views read',
  },
  {
    folder: 'command',
    imports: ['base', 'core', 'db'],
    holds: 'one file per command: load, decide, facts and job in one transaction',
  },
  {
    folder: 'event',
    imports: ['base', 'core', 'contract', 'db'],
    holds: 'outgoing data: metrics, live notifications and webhook messages',
  },
  {
    folder: 'job',
    imports: [
      'base',
      'core',
      'contract',
      'config',
      'report',
      'blob',
      'git',
      'host',
      'db',
      'command',
      'event',
    ],
    holds: 'the worker and its tasks',
  },
  {
    folder: 'http',
    imports: ['base', 'core', 'contract', 'config', 'report', 'blob', 'host', 'db', 'command', 'event'],
    holds: 'the API server: routes, authentication, limits, errors',
  },
  {
    folder: 'cli',
    imports: ['base', 'core', 'contract', 'config', 'report', 'host', 'db', 'command'],
    holds: 'the command line: for people, for CI and for administrators',
  },
  {
    folder: 'tool',
    imports: ['base', 'core', 'contract', 'config', 'git', 'cli'],
    holds: 'tools at the edge that the service does not know: demo, simulate, import and MCP',
  },
];

/** The sandbox keeps what it hosts in the cell that it serves, so it may import more than the other hosts. */
export const sandboxFolder: FolderRule = {
  folder: 'host/sandbox',
  imports: ['base', 'core', 'git', 'host', 'db', 'command'],
  holds:
    'a complete host without an account: repositories, pull requests, CI and webhooks, in the database and on disk',
};

/** A folder of src whose subfolders have rules of their own. */
export type DividedFolder = {
  readonly folder: string;
  readonly subfolders: readonly FolderRule[];
  /** Files of the folder itself that put its subfolders together. What else lies there is for all subfolders, and imports none. */
  readonly composing: readonly string[];
};

/** Every Git host that is reached over the network has the same subfolders. */
const foldersOfHost = (name: string, client: string): DividedFolder => ({
  folder: `host/${name}`,
  composing: ['host.ts', 'webhook.ts'],
  subfolders: [
    { folder: 'client', imports: [], holds: client },
    {
      folder: 'rule',
      imports: ['client'],
      holds: 'rules of branches, permissions, and what the doctor reads',
    },
    {
      folder: 'pull-request',
      imports: ['client', 'rule'],
      holds: 'pull requests, reviews, comments, labels, merges',
    },
  ],
});

/** The same inside the larger folders: which of its subfolders a subfolder may import from. */
export const dividedFolders: readonly DividedFolder[] = [
  {
    folder: 'core/queue',
    composing: [],
    subfolders: [
      {
        folder: 'rule',
        imports: [],
        holds: 'who may do what: rules of the branch, approvals, readiness of a pull request',
      },
      {
        folder: 'text',
        imports: ['rule'],
        holds: 'what people read on a pull request, and the commands they write there',
      },
      { folder: 'estimate', imports: [], holds: 'when a pull request will merge' },
      { folder: 'planner', imports: ['rule', 'text'], holds: 'the plan of a queue and its invariants' },
      {
        folder: 'engine',
        imports: ['rule', 'planner'],
        holds: 'from stored rows to a plan, and from a plan to facts',
      },
      {
        folder: 'risk',
        imports: ['planner'],
        holds: 'how probably a pull request fails, and how far that can be believed',
      },
      { folder: 'watch', imports: ['text'], holds: 'what is reported about a queue as a whole, and when' },
    ],
  },
  {
    folder: 'core/health',
    composing: ['settings.ts'],
    subfolders: [
      { folder: 'codeowners', imports: [], holds: 'who owns a test, by the CODEOWNERS file' },
      { folder: 'fingerprint', imports: [], holds: 'which failures are the same failure' },
      { folder: 'monitor', imports: [], holds: 'one file per monitor, and what they conclude' },
      {
        folder: 'incident',
        imports: [],
        holds: 'which quarantined tests fail together, and their issue at the Git host',
      },
      {
        folder: 'fix',
        imports: [],
        holds: 'whether the fix of a test is shown or refuted, and which runs of CI that takes',
      },
      {
        folder: 'quarantine',
        imports: [],
        holds: 'which tests are quarantined, until when, and which failures that excuses',
      },
      {
        folder: 'split',
        imports: [],
        holds: 'how long test files take, and how they are divided among shards',
      },
      {
        folder: 'accuracy',
        imports: ['monitor'],
        holds: 'how often verdicts were confirmed or overturned by what came later',
      },
      {
        folder: 'rename',
        imports: [],
        holds: 'which tests were renamed, and histories that continue under a new name',
      },
      { folder: 'trial', imports: [], holds: 'histories as they were, on which settings are tried' },
    ],
  },
  {
    folder: 'contract',
    composing: [],
    subfolders: [
      { folder: 'health', imports: [], holds: 'uploads, the history of tests, quarantine' },
      {
        folder: 'text',
        imports: [],
        holds: 'reasons and times in sentences, for dashboard and command line',
      },
      {
        folder: 'endpoint',
        imports: ['health'],
        holds: 'the table of operations, and the OpenAPI document made from it',
      },
    ],
  },
  {
    folder: 'report',
    composing: [],
    subfolders: [
      { folder: 'format', imports: [], holds: 'JUnit XML and CTRF, read piece by piece' },
      { folder: 'bundle', imports: ['format'], holds: 'uploaded bytes: bundles, archives, single reports' },
    ],
  },
  {
    folder: 'git',
    composing: [],
    subfolders: [
      { folder: 'mirror', imports: [], holds: 'our copy of a repository: fetches, merges, pushes' },
      {
        folder: 'candidate',
        imports: ['mirror'],
        holds: 'test commits: pull requests merged in order, commit messages',
      },
    ],
  },
  foldersOfHost('github', 'calls within the limits of GitHub, credentials, checks'),
  foldersOfHost('gitea', 'calls, credentials, versions, checks'),
  {
    folder: 'db',
    composing: [],
    subfolders: [
      { folder: 'webhook', imports: [], holds: 'outgoing webhooks: endpoints, events, deliveries' },
      { folder: 'health', imports: ['webhook'], holds: 'tests, uploads, verdicts, quarantine' },
      {
        folder: 'rename',
        imports: ['webhook', 'health'],
        holds: 'former names of tests, and what was carried over',
      },
      { folder: 'host', imports: [], holds: 'what a Git host answered: heads, comments, content; mirrors' },
      {
        folder: 'run',
        imports: ['webhook', 'health', 'host'],
        holds: 'runs, checks, landings, impacted targets',
      },
      {
        folder: 'account',
        imports: ['health', 'host', 'run'],
        holds: 'organizations, people, tokens, repositories, connections',
      },
      {
        folder: 'queue',
        imports: ['webhook', 'health', 'host', 'run', 'account'],
        holds: 'queues and their entries: what a reconcile reads and writes',
      },
      {
        folder: 'history',
        imports: ['health', 'host', 'run'],
        holds: 'views of what happened: attempts, times, metrics, the graph',
      },
      { folder: 'job', imports: [], holds: 'jobs, heartbeats and strikes: all that knows the job library' },
      { folder: 'sandbox', imports: ['job'], holds: 'the repositories, comments and CI of the sandbox' },
    ],
  },
  {
    folder: 'job',
    composing: [],
    subfolders: [
      { folder: 'queue', imports: [], holds: 'reconcile, runs, required checks, polling, status comments' },
      {
        folder: 'landing',
        imports: ['queue'],
        holds: 'the landing: its checks, the push or the merge calls, what came of it',
      },
      { folder: 'comment', imports: [], holds: 'commands in comments and labels' },
      { folder: 'health', imports: ['comment'], holds: 'reports read and classified, retention' },
      { folder: 'webhook', imports: [], holds: 'deliveries of outgoing webhooks' },
      {
        folder: 'worker',
        imports: ['queue', 'landing', 'comment', 'health'],
        holds: 'the worker: its pool, the table of tasks, the watchdog',
      },
    ],
  },
  {
    folder: 'http',
    composing: ['app.ts', 'sandbox-git.ts', 'webhook.ts'],
    subfolders: [
      { folder: 'guard', imports: [], holds: 'authentication, limits, shares per organization' },
      { folder: 'body', imports: [], holds: 'request bodies within their budgets' },
      {
        folder: 'endpoint',
        imports: ['guard', 'body'],
        holds: 'an operation of the contract as a route: scope, validation, answers',
      },
      { folder: 'route', imports: ['guard', 'body', 'endpoint'], holds: 'the handlers of the API' },
      {
        folder: 'app',
        imports: ['guard', 'endpoint', 'route'],
        holds: 'the dashboard: sessions, single sign-on, live updates',
      },
    ],
  },
  {
    folder: 'cli',
    composing: [],
    subfolders: [
      {
        folder: 'terminal',
        imports: [],
        holds: 'what people read and type: tables, times, colours, progress, questions; text made plain',
      },
      {
        folder: 'client',
        imports: ['terminal'],
        holds: 'the service at the other end: its calls, login, and which queue or pull request is meant',
      },
      { folder: 'queue', imports: ['terminal', 'client'], holds: '`queue`: queues and their settings' },
      {
        folder: 'pull-request',
        imports: ['terminal', 'client', 'queue'],
        holds: '`submit`, `cancel`, `restart`, `status`, `explain`, `wait` and `targets`',
      },
      {
        folder: 'ci',
        imports: ['terminal', 'client'],
        holds: '`test` and `upload`: reports found and sent, and how a run ends',
      },
      {
        folder: 'test-health',
        imports: ['terminal', 'client'],
        holds: '`tests`: the health of tests, and their quarantine',
      },
      {
        folder: 'admin',
        imports: ['terminal', 'client'],
        holds: '`admin`, `doctor`, `webhook` and the commands that run the service',
      },
    ],
  },
  {
    folder: 'tool',
    composing: [],
    subfolders: [
      {
        folder: 'simulate',
        imports: [],
        holds: '`simulate`: the planner on a virtual clock, fed with a history',
      },
      { folder: 'import', imports: [], holds: '`import`: the configuration of other queues' },
      { folder: 'mcp', imports: ['simulate'], holds: '`mcp`: the service as tools for agents' },
      {
        folder: 'demo',
        imports: [],
        holds: '`demo`: a database, the service and a simulated team with its CI, on one machine',
      },
    ],
  },
  {
    folder: 'tool/simulate',
    composing: [],
    subfolders: [
      {
        folder: 'kernel',
        imports: [],
        holds: 'the simulator: the planner, a workload and CI on a virtual clock; pure, chance is seeded',
      },
      { folder: 'fit', imports: ['kernel'], holds: 'from a history to a workload, and to better settings' },
      { folder: 'command', imports: ['kernel', 'fit'], holds: 'the command and what it prints' },
    ],
  },
];

/** Folders whose files may not use any npm package or node module. */
export const packageFree: readonly string[] = ['base', 'core', 'tool/simulate/kernel', 'tool/simulate/fit'];
