// Finds the file to which a test belongs, by what its report says of it. Reports name files in several ways:
//
//   RSpec, Jest with its option   file `spec/cart_spec.rb`
//   Vitest, Playwright            class `src/cart.test.ts`
//   pytest                        class `tests.test_cart.TestCart`, for `tests/test_cart.py`
//   Go, cargo-nextest             class `example.org/shop/cart`: the package or binary, which is listed in place of files
//   Gradle, Maven                 class `com.acme.CartTest$WhenEmpty`, for `src/test/java/com/acme/CartTest.java`
//
// If the runner works in another folder than the one that lists the files, one path is the end of the other. That counts
// if only one file can be meant.

/** As the report names them; empty: it has none. */
export type TestPlace = { readonly file: string; readonly classname: string };

/** More than any sensible path or class has. */
const levelsMax = 32;

const normalPath = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');

/** Every file by each end of its name: `a/b/c` is found by `b/c` and `c`. -1: two files have this end. */
function indexEnds(names: readonly string[], separator: string): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const [index, name] of names.entries())
    for (const end of listEnds(name, separator)) ends.set(end, ends.has(end) ? -1 : index);
  return ends;
}

/** The name without its first parts, the longest first. */
function listEnds(name: string, separator: string): readonly string[] {
  const parts = name.split(separator);
  const first = Math.max(0, parts.length - levelsMax);
  return parts.slice(first).map((_, from) => parts.slice(first + from).join(separator));
}

const sourceEnding = /\.(?:py|java|kt|groovy|scala|rb|php|cs|swift|dart|go|rs|[cm]?[jt]sx?)$/;

/** `tests/test_cart.py` as a class: `tests.test_cart`. A class stays as it is. */
const toClassName = (path: string): string => path.replace(sourceEnding, '').replaceAll('/', '.');

/** Answers with the index of the file of a test; -1: it is in none of them. */
export function createFileMatcher(files: readonly string[]): (test: TestPlace) => number {
  const paths = files.map(normalPath);
  const classes = paths.map(toClassName);
  const byPath = new Map(paths.map((path, index) => [path, index]));
  const byClass = new Map(classes.map((name, index) => [name, index]));
  const pathEnds = indexEnds(paths, '/');
  const classEnds = indexEnds(classes, '.');

  const findPath = (path: string): number => {
    if (path === '') return -1;
    const exact = byPath.get(path) ?? pathEnds.get(path) ?? -1;
    if (exact !== -1) return exact;
    for (const end of listEnds(path, '/').slice(1)) {
      const found = byPath.get(end);
      if (found !== undefined) return found;
    }
    return -1;
  };

  /** The class, or one around it. */
  const findClass = (classname: string): number => {
    const parts = classname.split('$', 1)[0]!.split('.').slice(0, levelsMax);
    for (const find of [byClass, classEnds])
      for (let length = parts.length; length > 0; length--) {
        // A single word that is left of a longer class means anything.
        if (find === classEnds && length === 1 && parts.length > 1) break;
        const found = find.get(parts.slice(0, length).join('.')) ?? -1;
        if (found !== -1) return found;
      }
    return -1;
  };

  return ({ file, classname }) => {
    const byFile = findPath(normalPath(file));
    if (byFile !== -1 || classname === '') return byFile;
    const byName = findPath(normalPath(classname));
    return byName === -1 ? findClass(classname) : byName;
  };
}
