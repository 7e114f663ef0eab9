// The import ladder: which folders of src/ a folder may import from. The one table behind the lint's
// allow-lists (.oxlintrc.json) and the folder table of ARCHITECTURE.md; test/tidy.test.ts compares all three.

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

/** Folders whose files may not use any npm package or node module. */
export const packageFree: readonly string[] = ['base', 'core', 'sim'];
