// Gradle and Maven select classes, not methods: a report may have the display name of a test instead of its method
// (`@DisplayName`, parameters, Spock, Kotest), so a method pattern could miss the test. Nested classes
// run with the class around them.

import { join } from 'node:path';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { encodeNames, freeArguments, hasOption, type Runner } from './runner.ts';

/** A Java class with its package; other names are features or sentences. */
const classPattern = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*(?:\$.*)?$/u;

/** The outermost classes. Null: a test has none. */
function outermostClasses(tests: readonly SelectedTest[]): readonly string[] | null {
  if (!tests.every(({ classname }) => classPattern.test(classname))) return null;
  return [...new Set(tests.map(({ classname }) => classname.split('$')[0]!))];
}

const gradlePlugin = 'signalbox-selection.gradle';

const gradleOptionsWithValue = new Set(
  '-x --exclude-task -p --project-dir -b --build-file -c --settings-file -g --gradle-user-home -I --init-script'
    .concat(' --console --max-workers --priority --include-build --warning-mode')
    .split(' '),
);

/**
 * By an init script: `--tests` fails in each subproject that has none of the tests, and for `check` and `build`. The tests run
 * even if Gradle has results of the same classes.
 */
export const gradle: Runner = {
  programs: ['gradle', 'gradlew'],
  accepts: (args) =>
    !hasOption(args, ['--tests']) &&
    freeArguments(args, gradleOptionsWithValue).some((task) =>
      /^(?:[^:]*:)*(?:test|check|build|\w+Test)$/.test(task),
    ),
  narrow: (args, tests, { pluginFolder }) => {
    const classes = outermostClasses(tests);
    if (classes === null) return null;
    const patterns = encodeNames(classes.flatMap((name) => [name, `${name}$*`]));
    const plugin = { name: gradlePlugin, text: initScript(patterns), folderVariable: null };
    return { args: ['--init-script', join(pluginFolder, gradlePlugin), ...args], plugins: [plugin] };
  },
};

const initScript = (patterns: string): string => `// Written by Signalbox: runs only the selected classes.
def patterns = new groovy.json.JsonSlurper().parseText(new String('${patterns}'.decodeBase64(), 'UTF-8'))
allprojects {
  tasks.withType(AbstractTestTask) { task ->
    task.setTestNameIncludePatterns(new ArrayList<String>(patterns))
    task.filter.failOnNoMatchingTests = false
    task.outputs.upToDateWhen { false }
  }
}
`;

const mavenOptionsWithValue = new Set(
  '-f --file -pl --projects -P --activate-profiles -s --settings -gs --global-settings -T --threads -rf --resume-from'
    .concat(' -l --log-file -t --toolchains -b --builder')
    .split(' '),
);

/** The Maven plugins that run tests, with the classes that each includes by default. */
const mavenPlugins = [
  { property: 'surefire.includesFile', file: 'surefire.txt', includes: /^Test|Test$|Tests$|TestCase$/ },
  { property: 'failsafe.includesFile', file: 'failsafe.txt', includes: /^IT|IT$|ITCase$/ },
];

/** A list without a class would include all classes. */
const noClass = 'signalbox/NoClass.java';

/**
 * By files with the included classes, which replace the defaults of Surefire and Failsafe: `-Dtest` replaces what the
 * project includes and excludes, so Surefire would run integration tests before their environment is there. A project
 * with its own list of included classes runs all of these.
 */
export const maven: Runner = {
  programs: ['mvn', 'mvnw', 'mvnd'],
  accepts: (args) =>
    !hasOption(args, ['-Dtest', '-Dit.test', ...mavenPlugins.map(({ property }) => `-D${property}`)]) &&
    freeArguments(args, mavenOptionsWithValue).some((goal) =>
      ['test', 'package', 'verify', 'install'].includes(goal),
    ),
  narrow: (args, tests, { pluginFolder }) => {
    const classes = outermostClasses(tests);
    if (classes === null) return null;
    const listOf = (includes: RegExp) =>
      classes
        .filter((name) => includes.test(name.split('.').at(-1)!))
        .map((name) => `${name.replaceAll('.', '/')}.java`);
    return {
      args: [
        ...mavenPlugins.map(({ property, file }) => `-D${property}=${join(pluginFolder, file)}`),
        ...args,
      ],
      plugins: mavenPlugins.map(({ file, includes }) => ({
        name: file,
        text: [...listOf(includes), noClass].map((line) => `${line}\n`).join(''),
        folderVariable: null,
      })),
    };
  },
};
