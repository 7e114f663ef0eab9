// Writes .oxlintrc.json from the ladder: `npm run lint:config`.
import { writeFileSync } from 'node:fs';
import {
  type DividedFolder,
  dividedFolders,
  type FolderRule,
  ladder,
  packageFree,
  sandboxFolder,
} from './ladder.ts';

const otherFolders = (imports: readonly string[], own: string) =>
  ladder.map((rule) => rule.folder).filter((folder) => folder !== own && !imports.includes(folder));

const pureGroup = (imports: readonly string[]) => [
  '**',
  '!./**',
  '!../**',
  ...imports.map((other) => `!#${other}/**`),
];

const patternOf = ({ folder, imports }: FolderRule) => ({
  group: packageFree.includes(folder)
    ? pureGroup(imports)
    : otherFolders(imports, folder).map((other) => `#${other}/**`),
  message: `src/${folder} may import only ${['itself', ...imports].join(', ')}.`,
});

/** Of the folder at the top: a later override takes the place of an earlier one, so each has its pattern too. */
const outerPattern = (folder: string) => {
  const top = ladder.find((rule) => rule.folder === folder.split('/')[0])!;
  return packageFree.includes(folder)
    ? {
        group: pureGroup(['base', 'core']),
        message: `src/${folder} may import only base and core, and no package.`,
      }
    : patternOf(top);
};

/** The subfolders of a folder, and the files of the folder itself, which import no subfolder unless they compose them. */
function innerOverrides({ folder, subfolders, composing }: DividedFolder): readonly object[] {
  const override = (files: readonly string[], patterns: readonly object[], within = folder) => ({
    files,
    rules: { 'eslint/no-restricted-imports': ['error', { patterns: [outerPattern(within), ...patterns] }] },
  });
  return [
    override(
      [`src/${folder}/*.ts`],
      [
        {
          group: subfolders.map((rule) => `./${rule.folder}/**`),
          message: `What lies in src/${folder} itself is for all of its subfolders, and imports none of them.`,
        },
      ],
    ),
    ...(composing.length === 0
      ? []
      : [
          override(
            composing.map((file) => `src/${folder}/${file}`),
            [],
          ),
        ]),
    ...subfolders.map((rule) =>
      override(
        [`src/${folder}/${rule.folder}/**/*.ts`],
        [
          {
            group: subfolders.flatMap(({ folder: other }) =>
              other === rule.folder || rule.imports.includes(other)
                ? []
                : [`../${other}/**`, `#${folder}/${other}/**`],
            ),
            message: `src/${folder}/${rule.folder} may import only ${['itself', ...rule.imports].join(', ')} of src/${folder}.`,
          },
        ].filter(({ group }) => group.length > 0),
        `${folder}/${rule.folder}`,
      ),
    ),
  ];
}

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
      ...[...ladder, sandboxFolder].map((rule) => ({
        files: [`src/${rule.folder}/**/*.ts`],
        rules: { 'eslint/no-restricted-imports': ['error', { patterns: [patternOf(rule)] }] },
      })),
      ...dividedFolders.flatMap(innerOverrides),
      {
        files: ['**/*.test.ts', 'test/**/*.ts', 'script/**/*.ts'],
        rules: {
          'eslint/no-restricted-imports': 'off',
          'eslint/max-lines-per-function': 'off',
          'eslint/no-console': 'off',
        },
      },
      {
        files: ['bin/*.js', 'src/{cli,tool}/**/*.ts', 'src/{main,program,signalbox}.ts'],
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
      { files: ['**/*.config.ts'], rules: { 'import/no-default-export': 'off' } },
    ],
  };
}

if (import.meta.main) writeFileSync('.oxlintrc.json', `${JSON.stringify(lintConfig(), null, 2)}\n`);
