import { describe, expect, it } from 'vitest';
import { createFileMatcher } from './match-file.ts';

const fileOf = (files: readonly string[], test: { readonly file?: string; readonly classname?: string }) => {
  const index = createFileMatcher(files)({ file: '', classname: '', ...test });
  return index === -1 ? null : files[index];
};

describe('a test is in the file', () => {
  const files = [
    './spec/cart_spec.rb',
    'src/cart.test.ts',
    'src/mail.test.ts',
    'tests/test_cart.py',
    'tests/unit/test_cart.py',
    'example.org/shop/cart',
    'example.org/shop',
    'com.acme.ShopTest',
    'src/test/java/com/acme/CartTest.java',
    'cart::mail',
  ];

  it.each([
    ['that its report names', { file: 'spec/cart_spec.rb' }, './spec/cart_spec.rb'],
    ['of Vitest, its class', { classname: 'src/cart.test.ts' }, 'src/cart.test.ts'],
    ['of pytest, a module', { classname: 'tests.test_cart' }, 'tests/test_cart.py'],
    [
      'of pytest around its classes',
      { classname: 'tests.unit.test_cart.TestA.TestB' },
      'tests/unit/test_cart.py',
    ],
    ['of Go, a package', { classname: 'example.org/shop/cart' }, 'example.org/shop/cart'],
    ['of Java, a class', { classname: 'com.acme.ShopTest$WhenEmpty' }, 'com.acme.ShopTest'],
    ['of Java, a file', { classname: 'com.acme.CartTest' }, 'src/test/java/com/acme/CartTest.java'],
    ['of nextest, a binary', { classname: 'cart::mail' }, 'cart::mail'],
    [
      'by the file rather than by the class',
      { file: 'src/mail.test.ts', classname: 'src/cart.test.ts' },
      'src/mail.test.ts',
    ],
    ['with an absolute path', { file: '/home/ci/widgets/src/cart.test.ts' }, 'src/cart.test.ts'],
    ['with backslashes', { file: 'src\\cart.test.ts' }, 'src/cart.test.ts'],
    ['by the end of a path', { file: 'cart_spec.rb' }, './spec/cart_spec.rb'],
  ])('%s', (_how, test, file) => {
    expect(fileOf(files, test)).toBe(file);
  });

  it.each([
    ['names nothing', {}],
    ['names another file', { file: 'src/other.test.ts', classname: 'other' }],
    ['names another class of the package', { classname: 'com.acme.OtherTest' }],
    ['has a class that may be in two files', { classname: 'test_cart.TestCart' }],
    ['has a class of one word around it', { classname: 'cart.TestCart' }],
  ])('that none is, if the report %s', (_why, test) => {
    expect(fileOf([...files, 'lib/cart.py'], test)).toBeNull();
  });

  it('if the runner works in a folder below the one that lists the files', () => {
    const listed = ['web/src/cart.test.ts', 'api/tests/test_cart.py', 'api/tests/test_mail.py'];
    expect(fileOf(listed, { classname: 'src/cart.test.ts' })).toBe('web/src/cart.test.ts');
    expect(fileOf(listed, { classname: 'tests.test_mail.TestMail' })).toBe('api/tests/test_mail.py');
  });
});
