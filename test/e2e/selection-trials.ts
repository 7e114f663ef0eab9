// A small project for each runner whose tests can be selected. If the variable BROKEN is set, some of its tests
// fail; among them are hostile names, and names that a passing test in another file has too.

import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { root } from '../bench/fixture.ts';

const execute = promisify(execFile);

type PreparedRunner = {
  readonly version: string;
  /** Folders with programs. */
  readonly path: readonly string[];
};

export type SelectionTrial = {
  readonly runner: string;
  readonly files: Readonly<Record<string, string>>;
  /** Installs what the project needs into its folder; throws if the runner is not available. */
  readonly prepare: (folder: string) => Promise<PreparedRunner>;
  readonly command: readonly string[];
  /** Globs of the reports. */
  readonly reports: readonly string[];
  /** How many tests fail. */
  readonly failing: number;
  /** Tests that do not exist. The project has the class, file or package of the first one. */
  readonly gone: readonly SelectedTest[];
  /** The runner selects classes. */
  readonly isByClass?: boolean;
};

const test = (name: string, classname: string, file = ''): SelectedTest => ({
  name,
  classname,
  parent: classname,
  file,
});

async function versionOf(program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args);
  return /\d+\.\d+(?:\.\d+)?/.exec(stdout)?.[0] ?? 'unknown version';
}

/** Part of a name in each project. Nothing may create the file. */
export const evilFile = 'evil';

const hostileNames = [
  '--collect-only',
  '-x',
  `it's $(touch ${evilFile})`,
  `\`touch ${evilFile}\` ; | & "quoted"`,
  '.* [a-z]+ (?: \\',
  'two\nlines',
  'ünïcode 💶',
  'a::b [1, 2]',
];
const hostileList = JSON.stringify(hostileNames);

const pytest: SelectionTrial = {
  runner: 'pytest',
  files: {
    'tests/test_cart.py': `
import os, pytest
broken = "BROKEN" in os.environ
@pytest.mark.parametrize("name", ${hostileList})
def test_hostile(name): assert not broken
@pytest.mark.parametrize("number", [1, 2])
def test_each(number): assert number == 1 or not broken
class TestCart:
    def test_adds(self): assert not broken
    def test_adds_more(self): pass
    class TestEmpty:
        def test_deep(self): assert not broken
`,
    'tests/test_mail.py': `
class TestCart:
    def test_adds(self): pass
def test_each(): pass
`,
  },
  prepare: async (folder) => {
    const installed = await versionOf('pytest', '--version').catch(() => null);
    if (installed !== null) return { version: installed, path: [] };
    await execute('python3', ['-m', 'venv', join(folder, 'venv')]);
    const bin = join(folder, 'venv/bin');
    await execute(join(bin, 'pip'), ['install', '--quiet', 'pytest']);
    return { version: await versionOf(join(bin, 'pytest'), '--version'), path: [bin] };
  },
  command: ['pytest', '--junitxml=junit.xml', 'tests'],
  reports: ['junit.xml'],
  failing: hostileNames.length + 3,
  gone: [test('test_gone', 'tests.test_cart'), test('test_gone', 'tests.test_gone')],
};

const scriptTests = (imports: string): Readonly<Record<string, string>> => ({
  'src/cart.test.js': `
${imports}
const broken = () => { if ('BROKEN' in process.env) throw new Error('broken'); };
describe('cart', () => {
  it('adds', broken);
  it('adds more', () => {});
  describe('empty', () => { it('is empty', broken); it('is fine', () => {}); });
});
describe('big cart', () => { it('adds', () => {}); });
describe('hostile', () => { for (const name of ${hostileList}) it(name, broken); });
describe('each', () => { it.each([1, 2])('[%i]', (number) => { if (number === 2) broken(); }); });
`,
  'src/mail.test.js': `
${imports}
describe('cart', () => { it('adds', () => {}); it('sends', () => {}); });
`,
});

const vitest: SelectionTrial = {
  runner: 'Vitest',
  files: {
    ...scriptTests("import { describe, it } from 'vitest';"),
    'package.json': '{ "type": "module" }',
    'vitest.config.js': 'export default {};',
  },
  prepare: async (folder) => {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const bin = join(root, 'node_modules/.bin');
    return { version: await versionOf(join(bin, 'vitest'), '--version'), path: [bin] };
  },
  command: ['npx', 'vitest', 'run', '--reporter=junit', '--outputFile=junit.xml'],
  reports: ['junit.xml'],
  failing: hostileNames.length + 3,
  gone: [test('cart > gone', 'src/cart.test.js'), test('cart > gone', 'src/gone.test.js')],
};

const jest: SelectionTrial = {
  runner: 'Jest',
  files: { ...scriptTests(''), 'package.json': '{ "private": true }' },
  prepare: async (folder) => {
    const packages = ['jest@30.5.2', 'jest-junit@17.0.0'];
    await execute('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder });
    return { version: await versionOf(join(folder, 'node_modules/.bin/jest'), '--version'), path: [] };
  },
  command: ['npx', 'jest', '--reporters=default', '--reporters=jest-junit'],
  reports: ['junit.xml'],
  failing: hostileNames.length + 3,
  gone: [
    test('cart gone', 'cart gone', 'src/cart.test.js'),
    test('cart gone', 'cart gone', 'src/gone.test.js'),
  ],
};

const gotestsum: SelectionTrial = {
  runner: 'gotestsum',
  files: {
    'go.mod': 'module example.org/shop\n\ngo 1.20\n',
    'cart/cart_test.go': `package cart
import ("os"; "testing")
func fail(t *testing.T) { if os.Getenv("BROKEN") != "" { t.Fatal("broken") } }
func TestAdd(t *testing.T) { fail(t) }
func TestAddMore(t *testing.T) {}
func TestNames(t *testing.T) {
	for _, name := range []string{${hostileNames.map((name) => JSON.stringify(name)).join(', ')}, "twice", "twice", "a/b"} {
		t.Run(name, fail)
	}
	t.Run("fine", func(t *testing.T) {})
	t.Run("outer", func(t *testing.T) { t.Run("inner", fail); t.Run("fine", func(t *testing.T) {}) })
}
`,
    'cart/sub/sub_test.go': 'package sub\nimport "testing"\nfunc TestAdd(t *testing.T) {}\n',
    'mail/mail_test.go': 'package mail\nimport "testing"\nfunc TestAdd(t *testing.T) {}\n',
  },
  prepare: async (folder) => {
    const bin = join(folder, 'bin');
    const env = { ...process.env, GOBIN: bin };
    await execute('go', ['install', 'gotest.tools/gotestsum@v1.13.0'], { env });
    return { version: `1.13.0, Go ${await versionOf('go', 'version')}`, path: [bin] };
  },
  command: ['gotestsum', '--junitfile', 'junit.xml', '--', './...'],
  reports: ['junit.xml'],
  // Each of these tests, and TestNames, its `outer` and TestAdd.
  failing: hostileNames.length + 7,
  gone: [test('TestGone', 'example.org/shop/cart'), test('TestGone', 'example.org/shop/gone')],
};

const rspec: SelectionTrial = {
  runner: 'RSpec',
  files: {
    'spec/cart_spec.rb': `
broken = -> { raise 'broken' if ENV.key?('BROKEN') }
names = JSON.parse(<<'NAMES')
${hostileList}
NAMES
RSpec.describe 'Cart' do
  subject { ENV.key?('BROKEN') ? 5 : 6 }
  it('adds') { broken.call }
  it('adds more') { }
  it { is_expected.to eq 6 }
  context('when empty') { it('is empty') { broken.call }; it('is fine') { } }
  names.each { |name| it(name) { broken.call } }
end
`,
    'spec/mail_spec.rb': "RSpec.describe('Cart') { it('adds') { }; it('sends') { } }\n",
    '.rspec': '--require json\n',
  },
  prepare: async () => {
    await execute('ruby', ['-e', 'require "rspec_junit_formatter"']);
    return { version: await versionOf('rspec', '--version'), path: [] };
  },
  command: ['rspec', '--format', 'progress', '--format', 'RspecJunitFormatter', '--out', 'rspec.xml'],
  reports: ['rspec.xml'],
  failing: hostileNames.length + 3,
  gone: [
    test('Cart gone', 'spec.cart_spec', 'spec/cart_spec.rb'),
    test('Cart gone', 'spec.gone_spec', 'spec/gone_spec.rb'),
  ],
};

const javaTest = (name: string, body: string, library: string): string => `package com.acme;
import org.junit${library}.*;
public class ${name} {
  static void fail() { if (System.getenv("BROKEN") != null) throw new AssertionError("broken"); }
  ${body}
}
`;

const maven: SelectionTrial = {
  runner: 'Maven',
  files: {
    'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.11.4</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
<plugin><artifactId>maven-failsafe-plugin</artifactId><version>3.5.2</version><executions><execution><goals>
<goal>integration-test</goal><goal>verify</goal></goals></execution></executions></plugin></plugins></build></project>
`,
    'src/test/java/com/acme/CartTest.java': javaTest(
      'CartTest',
      `@Test void adds() { fail(); }
  @Test void fine() { }
  @Test @DisplayName("sells $(touch ${evilFile}) \\"x\\"") void sells() { fail(); }
  @org.junit.jupiter.params.ParameterizedTest
  @org.junit.jupiter.params.provider.ValueSource(strings = {"a b", "[x]"}) void each(String name) { fail(); }
  @Nested class WhenEmpty { @Test void isEmpty() { fail(); } }`,
      '.jupiter.api',
    ),
    'src/test/java/com/acme/MailTest.java': javaTest('MailTest', '@Test void adds() { }', '.jupiter.api'),
    'src/test/java/com/acme/ShopIT.java': javaTest(
      'ShopIT',
      '@Test void sells() { fail(); }',
      '.jupiter.api',
    ),
    'src/test/java/com/acme/MailIT.java': javaTest('MailIT', '@Test void sells() { }', '.jupiter.api'),
  },
  prepare: async () => ({ version: await versionOf('mvn', '--version'), path: [] }),
  command: ['mvn', '--batch-mode', '-Dmaven.test.failure.ignore=true', 'verify'],
  reports: ['target/surefire-reports/TEST-*.xml', 'target/failsafe-reports/TEST-*.xml'],
  failing: 6,
  gone: [test('gone', 'com.acme.GoneTest'), test('gone', 'com.acme.GoneIT')],
  isByClass: true,
};

const gradle: SelectionTrial = {
  runner: 'Gradle',
  files: {
    'settings.gradle': "include 'cart', 'mail'\n",
    'build.gradle': `subprojects {
  apply plugin: 'java'
  repositories { mavenCentral() }
  dependencies { testImplementation 'junit:junit:4.13.2' }
}
`,
    'cart/src/test/java/com/acme/CartTest.java': javaTest(
      'CartTest',
      '@Test public void adds() { fail(); }\n  @Test public void fine() { }',
      '',
    ),
    'cart/src/test/java/com/acme/EachTest.java': `package com.acme;
import org.junit.*;
import org.junit.runners.Parameterized;
@org.junit.runner.RunWith(Parameterized.class)
public class EachTest {
  @Parameterized.Parameters(name = "{0}")
  public static Object[] names() { return new Object[] {"a b", "[x]", "$(touch ${evilFile})", "--tests", "ü"}; }
  @Parameterized.Parameter public String name;
  @Test public void each() { if (System.getenv("BROKEN") != null) throw new AssertionError("broken"); }
}
`,
    'cart/src/test/java/com/acme/CartTestMore.java': javaTest(
      'CartTestMore',
      '@Test public void adds() { }',
      '',
    ),
    'mail/src/test/java/com/acme/MailTest.java': javaTest('MailTest', '@Test public void adds() { }', ''),
  },
  prepare: async () => ({ version: await versionOf('gradle', '--version'), path: [] }),
  command: ['gradle', '--no-daemon', '--continue', 'test'],
  reports: ['*/build/test-results/test/TEST-*.xml'],
  failing: 6,
  gone: [test('gone', 'com.acme.GoneTest')],
  isByClass: true,
};

const nextest: SelectionTrial = {
  runner: 'cargo-nextest',
  files: {
    'Cargo.toml': '[package]\nname = "cart"\nversion = "0.1.0"\nedition = "2021"\n',
    '.config/nextest.toml': '[profile.ci.junit]\npath = "junit.xml"\n',
    'src/lib.rs': `#[cfg(test)]
mod tests {
    fn fail() { assert!(std::env::var("BROKEN").is_err()); }
    #[test] fn adds() { fail(); }
    #[test] fn adds_more() {}
    mod ünïcode { #[test] fn adds() { super::fail(); } #[test] fn fine() {} }
}
`,
    'tests/mail.rs': `mod tests { #[test] fn adds() {} }
#[test] fn sends() { assert!(std::env::var("BROKEN").is_err()); }
`,
  },
  prepare: async () => ({ version: await versionOf('cargo', 'nextest', '--version'), path: [] }),
  command: ['cargo', 'nextest', 'run', '--profile', 'ci', '--no-fail-fast'],
  reports: ['target/nextest/ci/junit.xml'],
  failing: 3,
  gone: [test('tests::gone', 'cart')],
};

export const trials: readonly SelectionTrial[] = [
  vitest,
  pytest,
  gotestsum,
  jest,
  rspec,
  maven,
  gradle,
  nextest,
];
