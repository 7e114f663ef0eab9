import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { canSelect, selectTests } from './select-tests.ts';

const test = (fields: Partial<SelectedTest>): SelectedTest => ({
  name: '',
  classname: '',
  parent: '',
  file: '',
  ...fields,
});

const place = (...files: readonly string[]) => ({
  exists: (path: string) => files.includes(path),
  pluginFolder: '/plugins',
});

const parts = (line: string): readonly string[] => line.split(' ');

const narrow = (line: string, tests: readonly SelectedTest[], ...files: readonly string[]) =>
  selectTests(parts(line), tests, place(...files));

/** The arguments that the selection added. */
const added = (line: string, tests: readonly SelectedTest[], ...files: readonly string[]) =>
  narrow(line, tests, ...files)?.command.filter((part) => !parts(line).includes(part)) ?? null;

const pytestTest = test({ name: 'test_adds', classname: 'tests.test_cart' });
const vitestTest = test({ name: 'Cart > adds', classname: 'src/cart.test.ts', parent: 'src/cart.test.ts' });
const jestTest = test({ name: 'Cart adds', classname: 'Cart adds', file: 'src/cart.test.ts' });
const goTest = test({ name: 'TestAdd', classname: 'example.org/shop/cart' });
const javaTest = test({ name: 'adds()', classname: 'com.acme.CartTest' });
const rspecTest = test({ name: 'Cart adds', classname: 'spec.cart_spec', file: 'spec/cart_spec.rb' });
const rustTest = test({ name: 'tests::adds', classname: 'cart' });

/** Names that a test can have, and that another program could take for something else. */
const hostileNames = [
  '--collect-only',
  '-x',
  "it's",
  '"quoted"',
  '$(touch evil)',
  '`touch evil`',
  '; touch evil',
  'a | b & c',
  '.*',
  '(?:',
  '[a-z]+\\',
  'two\nlines',
  'tab\there',
  'a::b',
  'with [1, 2] parameters',
  '%regex[.*]',
  ') | all() | test(x',
  "'''); os.system('touch evil') #",
  '#{`touch evil`}',
  'ünïcode 💶 \u202e',
  ' ',
];

describe('commands whose tests can be selected', () => {
  it.each(
    [
      ['pytest', 'pytest -q tests', 'python -m pytest', 'python3.12 -m pytest -n 4', '.venv/bin/pytest'],
      ['uv run pytest', 'uv run --frozen pytest', 'poetry run pytest', 'uv run python -m pytest'],
      ['vitest', 'vitest run', 'npx vitest run --coverage', 'pnpm vitest', 'pnpm exec vitest', 'yarn vitest'],
      ['npm exec -- vitest run', 'node_modules/.bin/vitest run', 'bunx vitest'],
      ['jest', 'npx jest --ci', 'npx --yes jest', 'yarn run jest', 'pnpm jest src'],
      ['go test ./...', 'go test -race -count 1 ./...', 'gotestsum', 'gotestsum --junitfile j.xml -- ./...'],
      [
        'gradle test',
        './gradlew test',
        './gradlew clean :app:test',
        'gradlew.bat check',
        'gradle integrationTest',
      ],
      ['mvn test', './mvnw verify', 'mvn --batch-mode -pl core verify', 'mvn clean install'],
      ['rspec', 'bundle exec rspec', 'bin/rspec spec/models', 'bundle exec rspec --tag ~slow'],
      ['cargo nextest run', 'cargo +nightly nextest run --profile ci'],
    ].flat(),
  )('%s', (line) => {
    expect(canSelect(parts(line))).toBe(true);
  });

  it.each(
    [
      ['', 'npm test', 'make test', 'sh -c pytest', 'npx', 'python -m unittest', 'python manage.py test'],
      ['vitest bench', 'vitest list', 'vitest run -t adds', 'vitest run -tadds', 'vitest run -- src'],
      ['jest -t adds', 'jest --testNamePattern=adds', 'jest --runTestsByPath src/cart.test.ts'],
      ['go build ./...', 'go test -run TestAdd ./...', 'go test --run=TestAdd', 'go test -bench . ./...'],
      ['gotestsum --raw-command -- ./test.sh', 'gotestsum --unknown x ./...', 'gotestsum -- -run=TestAdd'],
      ['gradle assemble', 'gradle assemble -x test', 'gradle test --tests CartTest'],
      ['mvn deploy', 'mvn -pl test compile', 'mvn test -Dtest=CartTest', 'mvn verify -Dit.test=CartIT'],
      ['rspec spec/cart_spec.rb:12', 'rspec spec/cart_spec.rb[1:2]', 'rspec -e adds', 'rspec --example=adds'],
      ['cargo test', 'cargo nextest list', 'cargo nextest run -E test(adds)'],
    ].flat(),
  )('never %j', (line) => {
    expect(canSelect(parts(line))).toBe(false);
    for (const one of [pytestTest, vitestTest, goTest, javaTest, rspecTest, rustTest])
      expect(narrow(line, [one])).toBeNull();
  });
});

describe('a narrowed command', () => {
  it.each<readonly [string, SelectedTest, readonly string[]]>([
    ['pytest -q tests', pytestTest, ['-p', 'signalbox_selection']],
    ['uv run python -m pytest', pytestTest, ['-p', 'signalbox_selection']],
    ['rspec spec', rspecTest, ['--require', '/plugins/signalbox_selection.rb']],
    ['./gradlew test', javaTest, ['--init-script', '/plugins/signalbox-selection.gradle']],
    [
      'mvn verify',
      javaTest,
      ['-Dsurefire.includesFile=/plugins/surefire.txt', '-Dfailsafe.includesFile=/plugins/failsafe.txt'],
    ],
    ['go test ./cart', goTest, ['-run=^TestAdd$']],
    ['go test -race -timeout 5m ./...', goTest, ['-run=^TestAdd$', 'example.org/shop/car...t']],
    ['gotestsum', goTest, ['--', '-run=^TestAdd$', 'example.org/shop/car...t']],
    ['gotestsum --packages=./... --', goTest, ['-run=^TestAdd$']],
    [
      'cargo nextest run --profile ci',
      rustTest,
      ['--filterset=(binary_id(=cart) & test(=tests::adds))', '--no-tests=pass'],
    ],
    ['jest --ci', jestTest, ['--testNamePattern=^Cart\\s+adds$', '--passWithNoTests']],
    ['vitest run', vitestTest, ['--testNamePattern=^Cart\\s+(?:[>›]\\s+)?adds$', '--passWithNoTests']],
  ])('of %s', (line, one, expected) => {
    expect(added(line, [one])).toEqual(expected);
  });

  it('of Go runs tests again that Go has results of', () => {
    const repeat = (line: string) =>
      selectTests(parts(line), [goTest], { ...place(), isRepeat: true })?.command.slice(1);
    expect(repeat('go test ./cart')).toEqual(['test', '-run=^TestAdd$', '-count=1', './cart']);
    expect(repeat('go test -count=3 ./cart')).toEqual(['test', '-run=^TestAdd$', '-count=3', './cart']);
    expect(repeat('gotestsum -- ./cart')).toEqual(['--', '-run=^TestAdd$', '-count=1', './cart']);
  });

  it('keeps the launcher and every argument of the user, in their order', () => {
    for (const [line, one] of [
      ['uv run python -m pytest -n 4 tests --cov src', pytestTest],
      ['pnpm exec vitest run src --reporter=junit', vitestTest],
      ['npx --yes jest --reporters=default --reporters=jest-junit', jestTest],
      ['gotestsum --junitfile j.xml -- -race ./cart', goTest],
      ['./mvnw -B verify', javaTest],
    ] as const) {
      const command = narrow(line, [one])?.command ?? [];
      expect(command.filter((part) => parts(line).includes(part))).toEqual(parts(line));
    }
  });

  it('selects the files too, if the user named none and they are known', () => {
    const gone = test({ ...jestTest, file: 'src/gone.test.ts' });
    const nowhere = test({ ...jestTest, name: 'Mail sends', file: '' });
    expect(added('jest --ci', [jestTest], 'src/cart.test.ts')).toContain('src/cart\\.test\\.ts$');
    expect(added('vitest run --reporter junit', [vitestTest], 'src/cart.test.ts')).toContain(
      'src/cart.test.ts',
    );
    expect(added('jest src/unit', [jestTest], 'src/cart.test.ts')).toHaveLength(2);
    expect(added('vitest run src/unit', [vitestTest], 'src/cart.test.ts')).toHaveLength(2);
    expect(
      added('jest', [jestTest, gone], 'src/cart.test.ts')?.filter((part) => !part.startsWith('--')),
    ).toEqual(['src/cart\\.test\\.ts$']);
    expect(added('jest', [gone], 'src/cart.test.ts')).toHaveLength(2);
    expect(added('jest', [jestTest, nowhere], 'src/cart.test.ts')).toHaveLength(2);
  });

  it('never takes the name of a file for an option', () => {
    const one = test({ ...vitestTest, classname: '--config=evil.ts' });
    expect(added('vitest run', [one], '--config=evil.ts')).toHaveLength(2);
    expect(added('jest', [test({ ...jestTest, file: '-x.js' })], '-x.js')).toHaveLength(2);
  });

  it('runs a whole file of Vitest if the file could not be loaded', () => {
    const file = test({ name: 'src/cart.test.ts', classname: 'src/cart.test.ts' });
    expect(added('vitest run', [file, vitestTest], 'src/cart.test.ts')).toEqual([
      '--passWithNoTests',
      'src/cart.test.ts',
    ]);
    expect(narrow('vitest run src', [file], 'src/cart.test.ts')).toBeNull();
  });

  it('runs a test of Go with its selected subtests only', () => {
    const names = ['TestTotal', 'TestTotal/with_tax#01', 'TestTotal/a/b', 'TestAdd'];
    const tests = names.map((name) => test({ ...goTest, name }));
    expect(added('go test ./cart', tests)).toEqual([
      '-run=^TestTotal$/^with_tax#01$|^TestTotal$/^a$/^b$|^TestAdd$',
    ]);
  });

  it('selects the classes of Java around nested ones', () => {
    const nested = test({ name: 'empty', classname: 'com.acme.CartTest$WhenEmpty$Deep' });
    const text = narrow('gradle test', [javaTest, nested])?.plugins[0]?.text ?? '';
    const [, encoded = ''] = /'([A-Za-z0-9+/]{8,}={0,2})'/.exec(text) ?? [];
    expect(JSON.parse(Buffer.from(encoded, 'base64').toString())).toEqual([
      'com.acme.CartTest',
      'com.acme.CartTest$*',
    ]);
  });

  it('lists the classes of Maven for the plugin that runs them', () => {
    const classes = ['com.acme.CartTest$WhenEmpty', 'com.acme.ShopIT', 'ITShopTest', 'com.acme.CartSpec'];
    const tests = classes.map((classname) => test({ name: 'sells', classname }));
    expect(narrow('mvn verify', tests)?.plugins.map(({ text }) => text.trim().split('\n'))).toEqual([
      ['com/acme/CartTest.java', 'ITShopTest.java', 'signalbox/NoClass.java'],
      ['com/acme/ShopIT.java', 'ITShopTest.java', 'signalbox/NoClass.java'],
    ]);
  });
});

describe('everything runs', () => {
  const cut = 'x'.repeat(1_000);
  it.each<readonly [string, string, readonly SelectedTest[]]>([
    ['without a test', 'pytest', []],
    ['if a name was cut', 'pytest', [pytestTest, test({ ...pytestTest, name: cut })]],
    ['if a name has a zero byte', 'go test ./...', [test({ ...goTest, name: 'Test\0' })]],
    ['if a module of pytest could not be imported', 'pytest', [test({ name: 'tests.test_cart' })]],
    ['if a test of pytest has no name', 'pytest', [test({ classname: 'tests.test_cart' })]],
    ['if a package of Go does not build', 'go test ./...', [test({ name: 'TestMain', parent: 'x/y' })]],
    ['if a test is not one of Go', 'go test ./...', [goTest, vitestTest]],
    [
      'if a file of Jest could not be loaded',
      'jest',
      [test({ name: 'src/cart.test.ts', classname: 'Test suite failed to run' })],
    ],
    ['if the class of a test is a sentence', 'mvn test', [test({ name: 'adds', classname: 'A cart' })]],
    ['if the class of a test is a file', './gradlew test', [vitestTest]],
    [
      'if a name means more in an expression',
      'cargo nextest run',
      [test({ ...rustTest, name: 'a) | all()' })],
    ],
    ['if a test has no name', 'vitest run', [test({ ...vitestTest, name: ' ' })]],
    [
      'if the command becomes too long',
      'jest',
      Array.from({ length: 100 }, (_, number) => test({ ...jestTest, name: `${number}${'y'.repeat(990)}` })),
    ],
  ])('%s', (_why, line, tests) => {
    expect(narrow(line, tests)).toBeNull();
  });
});

describe('hostile names', () => {
  const lines = [
    'pytest',
    'vitest run',
    'jest',
    'go test ./...',
    'gotestsum',
    'gradle test',
    'mvn test',
    'rspec',
    'cargo nextest run',
  ];

  const knownParts =
    /^(?:-p|signalbox_selection|--require|--init-script|\/plugins\/signalbox.*|-D(?:surefire|failsafe)\.includesFile=\/plugins\/.*|--testNamePattern=.*|--passWithNoTests|-run=.*|--|example\.org.*|\.\/\.\.\.|--filterset=.*|--no-tests=pass)$/s;

  it.each(lines)('add only the known options to %s', (line) => {
    const tests = hostileNames.flatMap((name) => [
      test({ name, classname: name, file: name, parent: name }),
      test({ ...goTest, name: `TestAdd/${name}` }),
      test({ ...pytestTest, name }),
      test({ ...javaTest, name }),
      test({ ...rustTest, name }),
    ]);
    const found = tests.flatMap((one) => added(line, [one], one.file) ?? []);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((part) => !knownParts.test(part))).toEqual([]);
  });

  it.each(hostileNames.filter((name) => name.trim() !== ''))('become a pattern for exactly %j', (name) => {
    const patternIn = (line: string, one: SelectedTest) =>
      new RegExp(/^(?:--testNamePattern|-run)=(.*)$/s.exec(added(line, [one])?.[0] ?? '')![1]!);
    const jestPattern = patternIn('jest', test({ name, classname: name }));
    expect(jestPattern.test(name.trim())).toBe(true);
    expect(jestPattern.test(`${name}x`)).toBe(false);
    const vitestPattern = patternIn('vitest run', test({ name: `Cart > ${name}`, classname: 'a' }));
    expect(vitestPattern.test(`Cart ${name}`)).toBe(true);
    expect(vitestPattern.test('Cart adds')).toBe(false);
    const goPattern = patternIn('go test', test({ ...goTest, name: `TestAdd${name.replaceAll('/', '')}` }));
    expect(goPattern.test(`TestAdd${name.replaceAll('/', '')}`)).toBe(true);
  });

  it('are nothing but data in a plugin', () => {
    for (const [line, one] of [
      ['pytest', pytestTest],
      ['rspec', rspecTest],
    ] as const)
      for (const name of hostileNames.filter((text) => text.trim() !== '')) {
        const text = narrow(line, [test({ ...one, name })])?.plugins[0]?.text ?? '';
        const [, encoded = ''] = /["']([A-Za-z0-9+/]{8,}={0,2})["']/.exec(text) ?? [];
        expect(JSON.parse(Buffer.from(encoded, 'base64').toString())[0]).toContain(name);
        expect(text).not.toContain(name === ' ' ? 'evil' : name);
      }
  });

  it('reach the program as they are', () => {
    const tests = hostileNames.map((name) => test({ name: `Cart > ${name}x`, classname: 'a' }));
    const { command } = narrow('vitest run', tests)!;
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const seen = execFileSync(process.execPath, ['-e', script, '--', ...command], { encoding: 'utf8' });
    expect(JSON.parse(seen)).toEqual(command);
  });
});
