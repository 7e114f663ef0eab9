// Writes .oxlintrc.json from the ladder: `npm run lint:config`.
import { writeFileSync } from 'node:fs';
import { type Inner, innerRooms, ladder, packageFree, type Room, sandboxRoom } from './ladder.ts';

const otherFolders = (imports: readonly string[], own: string) =>
  ladder.map((room) => room.folder).filter((folder) => folder !== own && !imports.includes(folder));

const pureGroup = (imports: readonly string[]) => [
  '**',
  '!./**',
  '!../**',
  ...imports.map((other) => `!#${other}/**`),
];

const patternOf = ({ folder, imports }: Room) => ({
  group: packageFree.includes(folder)
    ? pureGroup(imports)
    : otherFolders(imports, folder).map((other) => `#${other}/**`),
  message: `src/${folder} may import only ${['itself', ...imports].join(', ')}.`,
});

/** Of the folder at the top: a later override takes the place of an earlier one, so each has its pattern too. */
const outerPattern = (folder: string) => {
  const top = ladder.find((room) => room.folder === folder.split('/')[0])!;
  return packageFree.includes(folder)
    ? {
        group: pureGroup(['base', 'core']),
        message: `src/${folder} may import only base and core, and no package.`,
      }
    : patternOf(top);
};

/** The rooms of a folder, and the files of the folder itself, which import no room unless they compose them. */
function innerOverrides({ folder, rooms, composing }: Inner): readonly object[] {
  const override = (files: readonly string[], patterns: readonly object[], within = folder) => ({
    files,
    rules: { 'eslint/no-restricted-imports': ['error', { patterns: [outerPattern(within), ...patterns] }] },
  });
  return [
    override(
      [`src/${folder}/*.ts`],
      [
        {
          group: rooms.map((room) => `./${room.folder}/**`),
          message: `What lies in src/${folder} itself is for all of its rooms, and imports none of them.`,
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
    ...rooms.map((room) =>
      override(
        [`src/${folder}/${room.folder}/**/*.ts`],
        [
          {
            group: rooms.flatMap(({ folder: other }) =>
              other === room.folder || room.imports.includes(other)
                ? []
                : [`../${other}/**`, `#${folder}/${other}/**`],
            ),
            message: `src/${folder}/${room.folder} may import only ${['itself', ...room.imports].join(', ')} of src/${folder}.`,
          },
        ].filter(({ group }) => group.length > 0),
        `${folder}/${room.folder}`,
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
      ...[...ladder, sandboxRoom].map((room) => ({
        files: [`src/${room.folder}/**/*.ts`],
        rules: { 'eslint/no-restricted-imports': ['error', { patterns: [patternOf(room)] }] },
      })),
      ...innerRooms.flatMap(innerOverrides),
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
