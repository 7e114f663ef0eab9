// Writes .oxlintrc.json from the ladder: `npm run lint:config`.
import { writeFileSync } from 'node:fs';
import { cliRooms, ladder, packageFree, type Room } from './ladder.ts';

const otherFolders = (imports: readonly string[], own: string) =>
  ladder.map((room) => room.folder).filter((folder) => folder !== own && !imports.includes(folder));

const patternOf = ({ folder, imports }: Room) => ({
  group: packageFree.includes(folder)
    ? ['**', '!./*', '!../**', ...imports.map((other) => `!#${other}/**`)]
    : otherFolders(imports, folder).map((other) => `#${other}/**`),
  message: `src/${folder} may import only ${['itself', ...imports].join(', ')}.`,
});

/** A later override takes the place of an earlier one, so a room of src/cli has the pattern of src/cli too. */
const cliPatternsOf = ({ folder, imports }: Room) => [
  patternOf(ladder.find((room) => room.folder === 'cli')!),
  {
    group: cliRooms
      .map((room) => room.folder)
      .filter((other) => other !== folder && !imports.includes(other))
      .map((other) => `../${other}/**`),
    message: `src/cli/${folder} may import only ${['itself', ...imports].join(', ')} of src/cli.`,
  },
];

export function lintConfig(): object {
  return {
    $schema: './node_modules/oxlint/configuration_schema.json',
    plugins: ['typescript', 'unicorn', 'import', 'promise', 'vitest'],
    categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
    options: { typeAware: true },
    rules: {
      'eslint/max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'eslint/max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'eslint/no-await-in-loop': 'off',
      'eslint/no-shadow': 'off',
      'eslint/no-underscore-dangle': 'off',
      'eslint/curly': 'off',
      'eslint/no-console': 'error',
      'import/no-default-export': 'error',
      'import/no-unassigned-import': 'off',
      'import/no-named-as-default-member': 'off',
      'import/extensions': ['error', 'always', { ignorePackages: true }],
      'typescript/no-explicit-any': 'error',
      'typescript/no-floating-promises': 'error',
      'typescript/no-misused-promises': 'error',
      'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'typescript/consistent-type-imports': 'error',
      'typescript/no-unsafe-type-assertion': 'off',
      // TypeScript checks the same with more knowledge.
      'typescript/consistent-return': 'off',
      'typescript/no-unnecessary-type-parameters': 'off',
      'unicorn/consistent-function-scoping': 'off',
      'promise/no-promise-in-callback': 'off',
      'unicorn/no-array-sort': 'off',
      'vitest/require-mock-type-parameters': 'off',
    },
    ignorePatterns: ['dist', 'node_modules', 'coverage', '.data'],
    overrides: [
      ...ladder.map((room) => ({
        files: [`src/${room.folder}/**/*.ts`],
        rules: { 'eslint/no-restricted-imports': ['error', { patterns: [patternOf(room)] }] },
      })),
      ...cliRooms.map((room) => ({
        files: [`src/cli/${room.folder}/**/*.ts`],
        rules: { 'eslint/no-restricted-imports': ['error', { patterns: cliPatternsOf(room) }] },
      })),
      {
        files: [
          '**/*.test.ts',
          'test/**/*.ts',
          'script/**/*.ts',
          'bench/**/*.ts',
          '{sim,soak,e2e,eval,fuzz,abuse}/**/*.ts',
        ],
        rules: {
          'eslint/no-restricted-imports': 'off',
          'eslint/max-lines-per-function': 'off',
          'eslint/no-console': 'off',
        },
      },
      {
        files: ['bin/*.js', 'src/cli/**/*.ts', 'src/main.ts', 'src/signalbox.ts'],
        rules: { 'eslint/no-console': 'off' },
      },
      {
        files: ['web/**/*.{ts,tsx}'],
        rules: {
          // The browser has nothing of the server but what goes over the wire.
          'eslint/no-restricted-imports': [
            'error',
            {
              patterns: [
                {
                  group: ladder
                    .map(({ folder }) => `#${folder}/**`)
                    .filter((group) => group !== '#contract/**'),
                  message: 'web may import only itself and the types of contract.',
                },
                { group: ['node:*'], message: 'web runs in a browser.' },
              ],
            },
          ],
        },
      },
      // Generated.
      { files: ['src/db/database.ts'], rules: { 'eslint/max-lines': 'off' } },
      { files: ['**/*.config.ts'], rules: { 'import/no-default-export': 'off' } },
    ],
  };
}

if (import.meta.main) writeFileSync('.oxlintrc.json', `${JSON.stringify(lintConfig(), null, 2)}\n`);
