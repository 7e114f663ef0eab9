import { defineConfig } from 'vitest/config';

const unit = [
  'sim/**/*.test.ts',
  'test/planner/**/*.test.ts',
  'src/{base,core,contract,config,event,git}/**/*.test.ts',
  'src/http/{rate-limit,body-budget,page-token,validate}.test.ts',
];

const model = ['test/planner/model-check.test.ts'];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: unit, exclude: model } },
      // It takes every core for itself: after all others.
      { test: { name: 'model', include: model, sequence: { groupOrder: 1 } } },
      {
        test: {
          name: 'database',
          include: ['{src,test,soak}/**/*.test.ts'],
          exclude: unit,
          globalSetup: ['test/global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
