import { defineConfig } from 'vitest/config';
import { mutationTests, propertyShare } from './script/mutation-tests.ts';

/** The tests of `npm run mutation -- --vitest FILE...`: what Vitest itself says about every mutant, which takes long. */
export default defineConfig({
  test: {
    include: [...mutationTests.include],
    exclude: [...mutationTests.exclude],
    // Everything here is pure: one worker for all files, instead of one for each, is most of the speed.
    isolate: false,
    env: { PROPERTY_SHARE: propertyShare },
  },
});
