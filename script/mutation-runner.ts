// The test runner that Stryker asks for each mutant (stryker.config.json). Vitest starts a worker and loads every
// module for each one, which takes many times longer than the tests themselves. Here the tests and all they import are
// one script, compiled once: each mutant gets modules of its own by running that script again, within milliseconds, and
// then the tests that reach it, the quickest first, until one fails. `expect` is Vitest's own.
//
// `npm run mutation -- --vitest FILE...` asks Vitest instead, as a second opinion (vitest.mutation.config.ts).
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import vm from 'node:vm';
import type fc from 'fast-check';
import { rolldown, type Plugin } from 'rolldown';
import { expect } from 'vitest';
import { mutationTests, propertyShare } from './mutation-tests.ts';

type Body = (...values: unknown[]) => unknown;
type Test = { readonly id: string; readonly file: string; readonly body: () => unknown };
type TestResult = {
  readonly id: string;
  readonly name: string;
  readonly status: number;
  readonly timeSpentMs: number;
  readonly failureMessage: string;
};

/** Read by the mutants that Stryker puts into the code, which also count here how often each of them is reached. */
type Switch = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: unknown;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
};

/** The part of Stryker's options for one mutant that is used here. */
type MutantRun = {
  /** The tests that reach the mutant. Absent: not known, because it is reached while its module is loaded. */
  readonly testFilter?: readonly string[];
  readonly sandboxFileName: string;
  readonly hitLimit?: number;
  readonly activeMutant: { readonly id: string };
  readonly mutantActivation: 'runtime' | 'static';
};

/** The numbers that Stryker gives to the two results of a test. */
const succeeded = 0;
const failed = 1;

const mutants = ((globalThis as { __stryker__?: Switch }).__stryker__ ??= {});

/** A test that measures time also fails because the machine is busy, which would count as a noticed change. */
const measuresTime = /performance\.now|CpuUsage/;

/** Collects the tests that the script declares, by the part of Vitest's API that they use. */
class Collector {
  readonly tests: Test[] = [];
  #path: string[] = [];
  readonly #counts = new Map<string, number>();

  #add(name: string, body: Body, values: readonly unknown[] = []): void {
    if (measuresTime.test(String(body))) return;
    const path = [...this.#path, name].join(' ');
    const count = (this.#counts.get(path) ?? 0) + 1;
    this.#counts.set(path, count);
    const id = count === 1 ? path : `${path} (${count})`;
    this.tests.push({ id, file: this.#path[0]!, body: () => body(...values) });
  }

  /** What the script imports from `vitest`, and `inFile`, by which it names the file that it continues with. */
  api() {
    // A test may have options between its name and its body, or a time limit behind it.
    const findBody = (rest: readonly unknown[]) => rest.find((each) => typeof each === 'function') as Body;
    const it = (name: string, ...rest: readonly unknown[]) => this.#add(name, findBody(rest));
    it.each =
      (rows: readonly unknown[]) =>
      (name: string, ...rest: readonly unknown[]) => {
        const body = findBody(rest);
        for (const row of rows) this.#add(name, body, Array.isArray(row) ? (row as unknown[]) : [row]);
      };
    const describe = (name: string, body: () => void): void => {
      this.#path.push(name);
      body();
      this.#path.pop();
    };
    const inFile = (file: string): void => {
      this.#path = [file];
    };
    return { expect, it, describe, inFile };
  }
}

const entry = '\0tests';
const fileMarker = '\0in-file ';

/** An entry that imports every test file, each behind a module that names it; and who imports what. */
const testEntry = (files: readonly string[], imports: Map<string, readonly string[]>): Plugin => ({
  name: 'test-entry',
  resolveId: (id) => (id === entry || id.startsWith(fileMarker) ? id : null),
  load: (id) => {
    if (id === entry)
      return files
        .flatMap((file) => [fileMarker + file, resolve(file)])
        .map((module) => `import ${JSON.stringify(module)};`)
        .join('\n');
    if (!id.startsWith(fileMarker)) return null;
    return `import { inFile } from 'vitest'; inFile(${JSON.stringify(id.slice(fileMarker.length))});`;
  },
  moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds),
});

async function bundle(files: readonly string[], imports: Map<string, readonly string[]>): Promise<string> {
  const built = await rolldown({
    input: entry,
    platform: 'node',
    external: [/^node:/, 'vitest', 'fast-check'],
    plugins: [testEntry(files, imports)],
    treeshake: false,
    logLevel: 'silent',
  });
  const { output } = await built.generate({ format: 'cjs', codeSplitting: false });
  return output[0].code;
}

/** The file and every module that it imports, directly or through others. */
function withImports(file: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([resolve(file)]);
  for (const id of found) for (const imported of imports.get(id) ?? []) found.add(imported);
  return found;
}

type Script = (require: (name: string) => unknown, module: object, exports: object) => void;

class BundledTestRunner {
  #script: Script = () => undefined;
  readonly #require = createRequire(resolve('package.json'));
  /** By test file: itself and all that it imports. */
  readonly #reached = new Map<string, ReadonlySet<string>>();
  /** How long each test took when it last passed. */
  readonly #durations = new Map<string, number>();
  /** By mutated file: the tests that failed, the last one first. They notice most of the next mutants there as well. */
  readonly #killers = new Map<string, readonly string[]>();

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init(): Promise<void> {
    process.env['PROPERTY_SHARE'] = propertyShare;
    // The same random cases for every mutant, so that only the mutant can make the difference.
    const fastCheck = this.#require('fast-check') as typeof fc;
    fastCheck.configureGlobal({ seed: 7, endOnFailure: true });
    const files = globSync([...mutationTests.include], { exclude: [...mutationTests.exclude] }).toSorted();
    const imports = new Map<string, readonly string[]>();
    const code = `(function (require, module, exports) {${await bundle(files, imports)}\n})`;
    for (const file of files) this.#reached.set(file, withImports(file, imports));
    this.#script = new vm.Script(code, { filename: 'mutation-tests.cjs' }).runInThisContext() as Script;
  }

  /** The tests, with modules of their own. */
  #load(): readonly Test[] {
    const collector = new Collector();
    const vitest = collector.api();
    const module = { exports: {} };
    this.#script(
      (name) => (name === 'vitest' ? vitest : (this.#require(name) as unknown)),
      module,
      module.exports,
    );
    return collector.tests;
  }

  async #perform({ id, body }: Test): Promise<TestResult> {
    const beganAt = performance.now();
    let failureMessage: string | undefined;
    try {
      await body();
    } catch (error) {
      failureMessage = error instanceof Error ? error.message : String(error);
    }
    const timeSpentMs = performance.now() - beganAt;
    if (failureMessage !== undefined) return { id, name: id, status: failed, timeSpentMs, failureMessage };
    this.#durations.set(id, timeSpentMs);
    return { id, name: id, status: succeeded, timeSpentMs, failureMessage: '' };
  }

  /** Without any mutant: which tests pass, how long each takes, and which mutants it reaches. */
  async dryRun() {
    mutants.activeMutant = undefined;
    delete mutants.mutantCoverage;
    const tests: TestResult[] = [];
    for (const test of this.#load()) {
      mutants.currentTestId = test.id;
      tests.push(await this.#perform(test));
      mutants.currentTestId = undefined;
    }
    return { status: 'complete', tests, mutantCoverage: mutants.mutantCoverage };
  }

  /** Those that noticed other mutants of the file first, then the quickest first. */
  #inOrder(tests: readonly Test[], killers: readonly string[]): readonly Test[] {
    const ranks = new Map(killers.map((id, rank) => [id, rank]));
    const rank = ({ id }: Test): number => ranks.get(id) ?? killers.length;
    const duration = ({ id }: Test): number => this.#durations.get(id) ?? 0;
    return tests.toSorted((a, b) => rank(a) - rank(b) || duration(a) - duration(b));
  }

  async mutantRun({ testFilter, sandboxFileName, hitLimit, activeMutant, mutantActivation }: MutantRun) {
    mutants.hitCount = 0;
    mutants.hitLimit = hitLimit;
    mutants.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined;
    try {
      const reaching = testFilter === undefined ? null : new Set(testFilter);
      // A test that does not import the mutated file cannot notice the mutant.
      const killers = this.#killers.get(sandboxFileName) ?? [];
      const tests = this.#inOrder(
        this.#load().filter(
          ({ id, file }) => reaching?.has(id) ?? this.#reached.get(file)!.has(sandboxFileName),
        ),
        killers,
      );
      mutants.activeMutant = activeMutant.id;
      for (const [index, test] of tests.entries()) {
        const { status, failureMessage } = await this.#perform(test);
        if (hitLimit !== undefined && mutants.hitCount > hitLimit)
          return { status: 'timeout', reason: 'It was reached a hundred times as often as before.' };
        if (status !== failed) continue;
        this.#killers.set(sandboxFileName, [test.id, ...killers.filter((id) => id !== test.id)]);
        return { status: 'killed', killedBy: [test.id], failureMessage, nrOfTests: index + 1 };
      }
      return { status: 'survived', nrOfTests: tests.length };
    } catch (error) {
      // A mutant that cannot even be loaded is not counted.
      return { status: 'error', errorMessage: String(error) };
    } finally {
      mutants.activeMutant = undefined;
    }
  }
}

/** Read by Stryker, which finds the test runner by its name. */
export const strykerPlugins = [
  { kind: 'TestRunner', name: 'bundled', injectableClass: BundledTestRunner },
] as const;
