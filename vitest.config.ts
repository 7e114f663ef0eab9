import { defineConfig } from 'vitest/config';

const unit = [
  'sim/**/*.test.ts',
  'test/planner/**/*.test.ts',
  'src/{base,core,contract,config,event}/**/*.test.ts',
  'src/http/{rate-limit,body-budget,page-token,validate}.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: unit } },
      {
        test: {
          name: 'database',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: unit,
          globalSetup: ['test/global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
