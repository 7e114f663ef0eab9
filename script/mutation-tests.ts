/** The tests that mutants are tried with: those of the queue that finish within moments. */
export const mutationTests: { readonly include: readonly string[]; readonly exclude: readonly string[] } = {
  include: ['src/core/queue/**/*.test.ts', 'test/planner/**/*.test.ts'],
  exclude: ['test/planner/model-check.test.ts'],
};

/** The part of the random cases of each property test that is tried (test/planner/property.test.ts). */
export const propertyShare = '0.002';
