import { defineConfig } from 'vitest/config';
import { compileCache } from './test/compile-cache.ts';

const unit = [
  '{sim,eval,fuzz}/**/*.test.ts',
  'test/planner/**/*.test.ts',
  'test/authority/schedule.test.ts',
  'src/{base,core,sim,contract,config,report,blob,event,git,cli,demo}/**/*.test.ts',
  'src/http/{rate-limit,body-budget,page-token,shared-read,validate}.test.ts',
  'src/host/{gitea,github}/**/*.test.ts',
  'src/host/doctor.test.ts',
  'src/db/seal.test.ts',
  'test/github-server/**/*.test.ts',
  'test/{tidy,deploy,licences}.test.ts',
  'test/docs/{links,troubleshooting}.test.ts',
  'web/**/*.test.ts',
];

const model = ['test/planner/model-check.test.ts'];

const gitea = ['test/gitea/**/*.test.ts', 'test/{host-contract,authority,cost}/gitea*.test.ts'];

/** These replace or measure something of the process they run in: each has one of its own. */
const ownProcess = [
  'test/{blob,network,package}.test.ts',
  'test/cli/**/*.test.ts',
  'test/app/{calls,stream}.test.ts',
  'test/webhook/process.test.ts',
];

/** Every core is taken, so anything may take some times longer than alone; what never ends is found out all the same. */
const testTimeout = 30_000;
const expect = { poll: { timeout: 10_000 } };

export default defineConfig({
  test: {
    // By default a core is left idle.
    maxWorkers: '100%',
    env: compileCache,
    projects: [
      { test: { name: 'unit', include: unit, exclude: model, testTimeout } },
      // After all others, beside each other: the model check takes only what a Gitea with its CI leaves of the cores.
      { test: { name: 'model', include: model, maxWorkers: 2, sequence: { groupOrder: 1 } } },
      {
        test: {
          name: 'gitea',
          include: gitea,
          globalSetup: ['test/global-setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect,
        },
      },
      {
        test: {
          name: 'process',
          include: ownProcess,
          globalSetup: ['test/global-setup.ts'],
          testTimeout,
          hookTimeout: 60_000,
          expect,
        },
      },
      {
        test: {
          name: 'database',
          include: ['{src,test,soak}/**/*.test.ts'],
          exclude: [...unit, ...gitea, ...ownProcess],
          // Files share a process, which loads the service once: half of their time was loading it. Each test opens a
          // database of its own, and no module keeps anything between two of them.
          isolate: false,
          globalSetup: ['test/global-setup.ts'],
          testTimeout,
          hookTimeout: 60_000,
          expect,
        },
      },
    ],
  },
});
