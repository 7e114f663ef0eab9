// The import ladder: which folders of src/ a folder may import from. The one table behind the lint's
// allow-lists (.oxlintrc.json) and the folder tables of ARCHITECTURE.md; test/tidy.test.ts compares all three.

export type Room = { readonly folder: string; readonly imports: readonly string[]; readonly holds: string };

export const ladder: readonly Room[] = [
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
    folder: 'sim',
    imports: ['base', 'core'],
    holds: 'the simulator: the planner on a virtual clock, fed with a workload; pure, chance is seeded',
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
    holds: 'the git binary: mirrors of repositories, candidates made of pull requests, pushes',
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
    holds: 'what goes out: metrics, and word of what changed',
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
    imports: ['base', 'core', 'sim', 'contract', 'config', 'report', 'host', 'db'],
    holds: 'the command line: for people, for CI and for administrators',
  },
  {
    folder: 'demo',
    imports: ['base', 'core', 'contract', 'git', 'cli'],
    holds: '`signalbox demo`: a database, the service and a simulated team with its CI, on one machine',
  },
];

/**
 * The same inside src/cli: which of its rooms a room may import from. What lies in src/cli itself is for all of them;
 * only `program.ts` there imports from every room.
 */
export const cliRooms: readonly Room[] = [
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
  {
    folder: 'queue',
    imports: ['terminal', 'client'],
    holds: '`queue`, `import` and `simulate`: queues and their settings',
  },
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
    folder: 'mcp',
    imports: ['terminal', 'client', 'queue', 'pull-request'],
    holds: '`mcp`: the same as tools for agents',
  },
  {
    folder: 'admin',
    imports: ['terminal', 'client'],
    holds: '`admin`, `doctor`, `webhook` and the commands that run the service',
  },
];

/** Folders whose files may not use any npm package or node module. */
export const packageFree: readonly string[] = ['base', 'core', 'sim'];
