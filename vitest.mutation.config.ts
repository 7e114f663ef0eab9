import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Words first, which whole files of mutants are killed by; then stories; then what asks git; then the properties. */
class QuickFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      if (moduleId.endsWith('words.test.ts')) return 0;
      return 2 + ['branch-name.test.ts', 'property.test.ts'].findIndex((name) => moduleId.endsWith(name));
    };
    return Promise.resolve(
      files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId)),
    );
  }
}

/** What `npm run mutation` runs against every mutant: the tests of the queue that answer within moments. */
export default defineConfig({
  test: {
    include: ['src/core/queue/**/*.test.ts', 'test/planner/**/*.test.ts'],
    exclude: ['src/core/queue/target-hash.test.ts', 'test/planner/model-check.test.ts'],
    // Everything here is pure: one worker for all files, instead of one for each, is most of the speed.
    isolate: false,
    env: { PROPERTY_SHARE: '0.002' },
    sequence: { sequencer: QuickFirst },
  },
});
