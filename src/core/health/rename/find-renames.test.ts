import { describe, expect, it } from 'vitest';
import { findRenames, type PlacedTest } from './find-renames.ts';

/** `file › name` or `file › class › name`; the number is given by the order. */
function tests(first: number, lines: readonly string[]): readonly PlacedTest[] {
  return lines.map((line, index) => {
    const parts = line.split(' | ');
    const name = parts.at(-1)!;
    return {
      ordinal: first + index,
      name,
      file: parts[0]!,
      classname: parts.length === 3 ? parts[1]! : '',
      parent: '',
      variant: '',
    };
  });
}

function renames(gone: readonly string[], fresh: readonly string[], others: readonly string[] = []) {
  const [before, after] = [tests(0, gone), tests(1_000, fresh)];
  return findRenames(before, after, tests(2_000, others)).map(({ kind, former, test }) => ({
    kind,
    former: gone[former],
    test: fresh[test - 1_000],
  }));
}

const moved = (former: string, test: string) => ({ kind: 'moved', former, test });
const renamed = (former: string, test: string) => ({ kind: 'renamed', former, test });

const cart = ['adds an item', 'removes an item', 'empties the cart'];
const inFile = (file: string, names: readonly string[] = cart) => names.map((name) => `${file} | ${name}`);

describe('tests that moved', () => {
  it('are those of a file that is in another folder now', () => {
    const [before, after] = [inFile('unit/cart.test.ts'), inFile('checkout/cart.test.ts')];
    expect(renames(before, after)).toEqual(before.map((former, index) => moved(former, after[index]!)));
  });

  it('are those of a class in another package, also where the file is not named', () => {
    const [before, after] = [
      [' | com.acme.unit.CartTest | empties'],
      [' | com.acme.shop.CartTest | empties'],
    ];
    expect(renames(before, after)).toEqual([]);
    const names = ['empties it', 'adds an item to it'];
    const [many, later] = [
      names.map((name) => ` | com.acme.unit.CartTest | ${name}`),
      names.map((name) => ` | com.acme.shop.CartTest | ${name}`),
    ];
    expect(renames(many, later)).toEqual(many.map((former, index) => moved(former, later[index]!)));
  });

  it('are those of a file or a class with a similar name, if there are two or more', () => {
    const before = inFile('unit/shopping-cart-items.test.ts');
    const after = inFile('unit/shopping-cart-entry-items.test.ts');
    expect(renames(before, after)).toHaveLength(3);
    expect(renames(before.slice(0, 1), after.slice(0, 1))).toEqual([]);
  });

  it('are recognized by a folder that was renamed, also where files have the same names', () => {
    const files = ['a/index.test.ts', 'b/index.test.ts', 'c/index.test.ts'];
    const before = files.flatMap((file) => inFile(`src/${file}`, ['renders']));
    const after = files.flatMap((file) => inFile(`lib/${file}`, ['renders']));
    expect(renames(before, after)).toEqual(before.map((former, index) => moved(former, after[index]!)));
  });

  it('are recognized if the reporter begins to name files', () => {
    const before = cart.map((name) => ` | Cart | ${name}`);
    const after = cart.map((name) => `src/cart.test.ts | Cart | ${name}`);
    expect(renames(before, after)).toHaveLength(3);
  });

  it('keep their blocks', () => {
    const before = inFile('unit/cart.test.ts', ['the cart > adds an item', 'the cart > removes an item']);
    const after = inFile('shop/cart.test.ts', ['the cart > adds an item', 'the cart > removes an item']);
    expect(renames(before, after)).toHaveLength(2);
  });
});

describe('tests that did not move', () => {
  it('are those of a file that was split in two', () => {
    const before = inFile('unit/cart.test.ts', ['adds', 'removes', 'empties', 'counts']);
    const after = [
      ...inFile('unit/cart-add.test.ts', ['adds', 'removes']),
      ...inFile('unit/cart-empty.test.ts', ['empties', 'counts']),
    ];
    expect(renames(before, after)).toEqual([]);
    const folders = [
      ...inFile('add/cart.test.ts', ['adds', 'removes']),
      ...inFile('empty/cart.test.ts', ['empties', 'counts']),
    ];
    expect(renames(before, folders)).toEqual([]);
  });

  it('are those of a file that still has tests, or of one that had some before', () => {
    const [before, after] = [inFile('unit/cart.test.ts'), inFile('checkout/cart.test.ts')];
    expect(renames(before, after, ['unit/cart.test.ts | counts'])).toEqual([]);
    expect(renames(before, after, ['checkout/cart.test.ts | counts'])).toEqual([]);
  });

  it('are those of a file that was copied: both could be it', () => {
    const after = [...inFile('a/cart.test.ts'), ...inFile('b/cart.test.ts')];
    expect(renames(inFile('unit/cart.test.ts'), after)).toEqual([]);
  });

  it('are those of two files that became one', () => {
    const before = [...inFile('a/cart.test.ts'), ...inFile('b/cart.test.ts')];
    expect(renames(before, inFile('unit/cart.test.ts'))).toEqual([]);
  });

  it('are those of a file whose name and tests are like many others', () => {
    const names = ['renders', 'handles a click', 'is empty at first'];
    expect(renames(inFile('menu/index.test.tsx', names), inFile('dialog/index.test.tsx', names))).toEqual([]);
    expect(renames(inFile('a/cart.test.ts', ['works']), inFile('b/cart.test.ts', ['works']))).toEqual([]);
  });

  it('are the same inherited tests of another class', () => {
    const before = cart.map((name) => `test/stores.java | PostgresStoreTest | ${name}`);
    const after = cart.map((name) => `test/stores.java | MySqlStoreTest | ${name}`);
    expect(renames(before, after)).toEqual([]);
  });

  it('are those whose names are so long that they may be cut', () => {
    const long = 'adds an item '.repeat(50);
    expect(renames(inFile('unit/cart.test.ts', [long]), inFile('shop/cart.test.ts', [long]))).toEqual([]);
  });

  it('are those of a suite in which everything changed at once', () => {
    const many = (folder: string) =>
      Array.from({ length: 200 }, (_, index) => `${folder}/${index}/index.test.ts | renders`);
    expect(renames(many('src'), many('lib'))).toEqual([]);
  });

  it('are those of the next version of something', () => {
    expect(renames(inFile('test/api-v1.test.ts'), inFile('test/api-v2.test.ts'))).toEqual([]);
  });

  it('are those of a place where one test was added in the same commit', () => {
    const after = [...inFile('checkout/cart.test.ts'), 'checkout/cart.test.ts | counts'];
    expect(renames(inFile('unit/cart.test.ts'), after)).toEqual([]);
  });
});

describe('tests with a new name', () => {
  it('have a similar one, and nothing else of the file changed', () => {
    const [former, test] = ['cart.test.ts | adds two items', 'cart.test.ts | adds two equal items'];
    expect(renames([former], [test], inFile('cart.test.ts'))).toEqual([renamed(former, test)]);
  });

  it('may be several, if one change of wording explains all of them', () => {
    const before = inFile('cart.test.ts', ['the cart adds an item', 'the cart removes an old item']);
    const after = inFile('cart.test.ts', ['the basket adds an item', 'the basket removes an old item']);
    expect(renames(before, after)).toEqual([]);
    const terms = ['the customer cart adds an item', 'the customer cart removes an old item'];
    const [many, later] = [
      inFile('cart.test.ts', terms),
      inFile(
        'cart.test.ts',
        terms.map((name) => name.replace('cart', 'basket')),
      ),
    ];
    expect(renames(many, later)).toEqual(many.map((former, index) => renamed(former, later[index]!)));
  });

  it('may have parameters, which stay', () => {
    const name = (base: string) =>
      ['[null]', '[1]', '[a b]'].map((parameter) => `cart.py | ${base}${parameter}`);
    const [before, after] = [name('test_parses_old_item_price'), name('test_parses_item_price')];
    expect(renames(before, after)).toEqual(before.map((former, index) => renamed(former, after[index]!)));
  });
});

describe('tests that were removed and added in one commit', () => {
  it('have names of their own', () => {
    expect(renames(['cart.test.ts | adds an item'], ['cart.test.ts | sorts by price'])).toEqual([]);
    expect(renames(['cart.test.ts | adds an item'], ['cart.test.ts | removes an item'])).toEqual([]);
  });

  it('cannot be distinguished if there are several in a file', () => {
    const before = inFile('cart.test.ts', ['adds one new item', 'shows one old price']);
    const after = inFile('cart.test.ts', ['adds one new entry item', 'shows one very old price']);
    expect(renames(before, after)).toEqual([]);
    expect(renames(before.slice(0, 1), after)).toEqual([]);
    expect(renames(before, after.slice(0, 1))).toEqual([]);
  });

  it('are not a rename if only a parameter or a number differs', () => {
    expect(renames(['a.py | test_parses_a_version[1.9]'], ['a.py | test_parses_a_version[2.0]'])).toEqual([]);
    expect(renames(['a.test.ts | answers with status 404'], ['a.test.ts | answers with status 403'])).toEqual(
      [],
    );
    const before = ['a.py | test_prices_of_items[x1]', 'a.py | test_prices_of_items[x2]'];
    const after = ['a.py | test_prices_of_items[y1]', 'a.py | test_prices_of_items[y2]'];
    expect(renames(before, after)).toEqual([]);
  });

  it('are not a rename across places or variants', () => {
    expect(
      renames(['a/cart.test.ts | adds two old items'], ['b/cart.test.ts | adds two new old items']),
    ).toEqual([]);
    const [one, other] = [tests(0, ['cart.test.ts | adds two items']), tests(1, inFile('cart.test.ts'))];
    const elsewhere = other
      .slice(0, 1)
      .map((test) => ({ ...test, name: 'adds two items', variant: 'arm64' }));
    expect(findRenames(one, elsewhere, [])).toEqual([]);
  });
});
