import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { compileCache } from './test/support/compile-cache.ts';
import { temporaryRoot } from './test/support/temporary-root.ts';

const unit = [
  'test/{sim,eval,fuzz}/**/*.test.ts',
  'test/planner/**/*.test.ts',
  'test/authority/schedule.test.ts',
  'src/{base,core,contract,config,report,blob,event,git,cli,tool}/**/*.test.ts',
  'src/http/{guard/rate-limit,body/body-budget,guard/page-token,endpoint/shared-read,endpoint/validate}.test.ts',
  'src/host/{gitea,github}/**/*.test.ts',
  'src/host/doctor.test.ts',
  'src/db/seal.test.ts',
  'test/github-server/**/*.test.ts',
  'test/{project,walk}/*.test.ts',
  'test/docs/{links,not-run,troubleshooting}.test.ts',
  'web/**/*.test.ts',
];

const model = ['test/planner/model-check.test.ts'];

const gitea = ['test/gitea/**/*.test.ts', 'test/{host-contract,authority,cost}/gitea*.test.ts'];

/** These replace or measure something of the process they run in: each has one of its own. */
const ownProcess = [
  'test/service/{blob,network,package}.test.ts',
  'test/cli/**/*.test.ts',
  'test/app/{calls,stream}.test.ts',
  'test/webhook/process.test.ts',
  // It counts what the process does: what another file left running would count too.
  'test/cost/operation.test.ts',
];

/** A busy machine is up to eight times slower than a quiet one; what never ends is found out all the same. */
const timeouts = { testTimeout: 240_000, hookTimeout: 240_000 };
const expect = { poll: { timeout: 30_000 } };

/** Tests of the service wait a third of their time, for git, PostgreSQL and each other. */
const waiting = { maxWorkers: Math.ceil(1.5 * availableParallelism()), sequence: { groupOrder: 1 } };

// `isolate: false`: files share a process, which loads the service once; half of their time was loading it. Each test opens a
// database of its own, and no module keeps anything between two of them.
export default defineConfig({
  test: {
    // By default a core is left idle.
    maxWorkers: '100%',
    env: { ...compileCache, TMPDIR: temporaryRoot() },
    projects: [
      { test: { name: 'unit', include: unit, exclude: model, isolate: false, ...timeouts } },
      // After all others, beside each other: the model check takes only what a Gitea with its CI leaves of the cores.
      { test: { name: 'model', include: model, maxWorkers: 2, sequence: { groupOrder: 2 } } },
      {
        test: {
          name: 'gitea',
          include: gitea,
          globalSetup: ['test/support/global-setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          ...timeouts,
          expect,
        },
      },
      {
        test: {
          name: 'process',
          include: ownProcess,
          globalSetup: ['test/support/global-setup.ts'],
          ...timeouts,
          ...waiting,
          expect,
        },
      },
      {
        test: {
          name: 'database',
          include: ['{src,test}/**/*.test.ts'],
          exclude: [...unit, ...gitea, ...ownProcess],
          isolate: false,
          globalSetup: ['test/support/global-setup.ts'],
          ...timeouts,
          ...waiting,
          expect,
        },
      },
    ],
  },
});
