import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCodeowners } from '../../../../test/support/codeowners.ts';
import { detectCodeownersSyntax, createOwnerLookup, findOwners } from './codeowners.ts';
import type { CodeownersSyntax } from './codeowners-pattern.ts';

const owners = (text: string, path: string, syntax?: CodeownersSyntax) =>
  findOwners(parseCodeowners(text, syntax), path);

/** Which of the paths a single rule with this pattern owns. */
const owned = (syntax: CodeownersSyntax, pattern: string, paths: readonly string[]) => {
  const rules = parseCodeowners(`${pattern} @a`, syntax);
  return paths.filter((path) => findOwners(rules, path).length > 0);
};

describe('a pattern as GitHub understands it', () => {
  const paths = [
    'app',
    'app/a.ts',
    'app/lib/a.ts',
    'lib/app',
    'lib/app/a.ts',
    'lib/a.ts',
    'apple/a.js',
    'a b#',
  ];
  it.each<[string, readonly string[]]>([
    ['*', paths],
    ['**', paths],
    ['app', ['app', 'app/a.ts', 'app/lib/a.ts', 'lib/app', 'lib/app/a.ts']],
    ['/app', ['app', 'app/a.ts', 'app/lib/a.ts']],
    ['app/', ['app/a.ts', 'app/lib/a.ts', 'lib/app/a.ts']],
    ['/app/', ['app/a.ts', 'app/lib/a.ts']],
    ['lib/app', ['lib/app', 'lib/app/a.ts']],
    ['app/*', ['app/a.ts']],
    ['/*', ['app', 'a b#']],
    ['app/**', ['app/a.ts', 'app/lib/a.ts']],
    ['**/lib/', ['app/lib/a.ts', 'lib/app', 'lib/app/a.ts', 'lib/a.ts']],
    ['app/**/a.ts', ['app/a.ts', 'app/lib/a.ts']],
    ['*.ts', ['app/a.ts', 'app/lib/a.ts', 'lib/app/a.ts', 'lib/a.ts']],
    ['app*', ['app', 'app/a.ts', 'app/lib/a.ts', 'lib/app', 'lib/app/a.ts', 'apple/a.js']],
    ['/*/a.?s', ['app/a.ts', 'lib/a.ts', 'apple/a.js']],
    ['a\\ b\\#', ['a b#']],
    ['\\*', []],
    ['APP', []],
  ])('%s', (pattern, expected) => {
    expect(owned('github', pattern, paths)).toEqual(expected);
  });
});

describe('a pattern as GitLab understands it', () => {
  const paths = [
    'app',
    'app/a.ts',
    'app/lib/a.ts',
    'lib/app',
    'lib/app/a.ts',
    'lib/a.ts',
    'apple/a.js',
    '#a b',
  ];
  it.each<[string, readonly string[]]>([
    ['*', paths],
    ['/', paths],
    ['app', ['app', 'lib/app']],
    ['/app', ['app']],
    ['app/', ['app/a.ts', 'app/lib/a.ts', 'lib/app/a.ts']],
    ['/app/', ['app/a.ts', 'app/lib/a.ts']],
    ['app/a.ts', ['app/a.ts', 'lib/app/a.ts']],
    ['/app/*', ['app/a.ts']],
    ['/app/**', ['app/a.ts']],
    ['/app/**/*', ['app/a.ts', 'app/lib/a.ts']],
    ['/a[o-q]p/', ['app/a.ts', 'app/lib/a.ts']],
    ['/[!l]*/a.ts', ['app/a.ts']],
    ['/app/[^x-z].[tj]s', ['app/a.ts']],
    ['\\#a\\ b', ['#a b']],
  ])('%s', (pattern, expected) => {
    expect(owned('gitlab', pattern, paths)).toEqual(expected);
  });
});

describe('a file of GitHub', () => {
  it('lets the last rule that matches count', () => {
    const text = '* @org/all\n/src/pay/ @org/pay # cards\n/src/pay/fixture/';
    expect(owners(text, 'README.md')).toEqual(['@org/all']);
    expect(owners(text, 'src/pay/card.ts')).toEqual(['@org/pay']);
    expect(owners(text, 'src/pay/fixture/a.json')).toEqual([]);
  });

  it('keeps order between rules that begin alike and rules that match anywhere', () => {
    const text = '/a/b/ @deep\n*.ts @ts\n/a/ @shallow';
    expect(owners(text, 'a/b/c.ts')).toEqual(['@shallow']);
    expect(owners(text, 'b/c.ts')).toEqual(['@ts']);
    expect(owners(`${text}\n/a/b/c.* @last`, 'a/b/c.ts')).toEqual(['@last']);
  });

  it('reads users, teams and addresses once each, tabs, a byte order mark and any line ending', () => {
    const text = '\uFEFF*.ts\t@a @org/team  me@example.com @a\r\n*.js @b\r# @c\n  *.md   @d#x @e';
    expect(owners(text, 'x.ts')).toEqual(['@a', '@org/team', 'me@example.com']);
    expect(owners(text, 'x.js')).toEqual(['@b']);
    expect(owners(text, 'x.md')).toEqual([]);
  });

  it('leaves out a line that it does not understand, and says which', () => {
    const { problems, ...rules } = parseCodeowners(
      '* @a\n[ab].ts @b\n!x @c\n*.ts owner\na//b @d\nx\\',
      'github',
    );
    expect(problems.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
    expect(findOwners({ ...rules, problems }, 'a.ts')).toEqual(['@a']);
  });

  it('takes a path with a leading slash or ./ as well', () => {
    for (const path of ['a/b', '/a/b', './a/b']) expect(owners('/a/ @a', path)).toEqual(['@a']);
  });
});

describe('a file of GitLab', () => {
  const text = [
    '* @general',
    '[Docs][2] @docs @org/writers',
    'docs/',
    'README.md @readme',
    '^[Data base] @db',
    '/model/',
    '!/model/*.md',
    '/model/x.md',
    '[docs]',
    '*.txt @@maintainer # not @comment',
    'docs/none.txt',
  ].join('\n');

  it('is known by its sections, exclusions or roles', () => {
    expect(detectCodeownersSyntax(text)).toBe('gitlab');
    expect(detectCodeownersSyntax('* @a\n!x')).toBe('gitlab');
    expect(detectCodeownersSyntax('* @@owner')).toBe('gitlab');
    expect(detectCodeownersSyntax('* @a\n/app/[id]/ @b\n[id].ts @b\n# [x]')).toBe('github');
  });

  it('joins what its sections say', () => {
    expect(owners(text, 'docs/a.md')).toEqual(['@general', '@docs', '@org/writers']);
    expect(owners(text, 'README.md')).toEqual(['@general', '@readme']);
    expect(owners(text, 'model/a.ts')).toEqual(['@general', '@db']);
  });

  it('takes what a section excludes out of it for good', () => {
    expect(owners(text, 'model/x.md')).toEqual(['@general']);
  });

  it('reads sections of one name as one, and owners even where a comment is meant', () => {
    expect(owners(text, 'docs/a.txt')).toEqual(['@general', '@@maintainer', '@comment']);
    expect(owners(text, 'docs/none.txt')).toEqual(['@general']);
  });
});

describe('bounds', () => {
  it('ignores a file that is too large or has too many rules', () => {
    for (const text of [`* @a\n${'#'.repeat(3 * 1024 * 1024)}`, '* @a\n'.repeat(50_001)]) {
      const rules = parseCodeowners(text);
      expect(rules.problems).toMatchObject([{ line: 0 }]);
      expect(findOwners(rules, 'a')).toEqual([]);
    }
  });

  it('reports at most 100 problems', () => {
    expect(parseCodeowners('!x\n'.repeat(500), 'github').problems).toHaveLength(100);
  });

  it('spends no more than the budget on patterns made to be slow', () => {
    const rules = parseCodeowners(`${'*a'.repeat(500)}*b*a @a\n`.repeat(2000));
    const budget = { steps: 1_000_000 };
    expect(findOwners(rules, 'a'.repeat(4000), budget)).toEqual([]);
    expect(budget.steps).toBeLessThan(0);
    expect(budget.steps).toBeGreaterThan(-10_000);
  });

  it('looks every file up once, and all of them within one budget', () => {
    const rules = parseCodeowners('*.ts @a\n*.js @b');
    const budget = { steps: 1000 };
    const findFileOwners = createOwnerLookup(rules, budget);
    expect([findFileOwners('a.ts'), findFileOwners('a.js')]).toEqual([['@a'], ['@b']]);
    const { steps } = budget;
    for (let again = 0; again < 1000; again++) findFileOwners('a.ts');
    expect(budget.steps).toBe(steps);
    for (let file = 0; file < 1000; file++) findFileOwners(`${file}.ts`);
    expect(findFileOwners('last.ts')).toEqual([]);
    expect(findFileOwners('a.ts')).toEqual(['@a']);
  });

  it('reads any text without an error', () => {
    const line = fc.stringMatching(/^[[\]^!#\\ @a/*?.-]{0,30}$/);
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(line).map((lines) => lines.join('\n')),
    );
    fc.assert(
      fc.property(text, fc.string(), fc.constantFrom('github', 'gitlab', undefined), (text, path, syntax) => {
        expect(findOwners(parseCodeowners(text, syntax), path).length).toBeLessThan(1000);
      }),
    );
  });
});

describe('matching', () => {
  const name = fc.stringMatching(/^[ab]{1,3}$/);
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join('/'));
  const part = fc.oneof(fc.stringMatching(/^[ab*?]{1,4}$/), fc.constantFrom('*', '**', 'a', 'b'));
  const pattern = fc
    .tuple(fc.constantFrom('', '/'), fc.array(part, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '/'))
    .map(([start, parts, end]) => `${start}${parts.join('/')}${end}`);

  it.each(['github', 'gitlab'] as const)('agrees with a regular expression for %s', (syntax) => {
    fc.assert(
      fc.property(pattern, path, (pattern, path) => {
        expect(owned(syntax, pattern, [path]).length > 0).toBe(referenceOf(pattern, syntax).test(path));
      }),
      { numRuns: 3000 },
    );
  });

  it('finds what trying every rule from the last to the first finds', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 20 }), path, (patterns, path) => {
        const rules = patterns.map((pattern, at) => `${pattern} @o${at}`).join('\n');
        const last = patterns.findLastIndex((pattern) => referenceOf(pattern, 'github').test(path));
        expect(owners(rules, path, 'github')).toEqual(last < 0 ? [] : [`@o${last}`]);
      }),
      { numRuns: 1000 },
    );
  });

  it('matches a name that is written with every special character escaped', () => {
    const written = fc.stringMatching(/^[^/\s\p{C}]{1,12}$/u);
    fc.assert(
      fc.property(written, fc.constantFrom('github', 'gitlab'), (name, syntax) => {
        const escaped = name.replaceAll(/[\\*?[\]#!^]/g, '\\$&');
        expect(owned(syntax, `/${escaped}`, [name])).toEqual([name]);
      }),
    );
  });
});

/** The slow way: a regular expression over the whole path. */
function referenceOf(pattern: string, syntax: CodeownersSyntax): RegExp {
  const isBelow = pattern.endsWith('/');
  const parts = pattern.replace(/^\//, '').replace(/\/$/, '').split('/');
  const isAnchored =
    pattern.startsWith('/') || (syntax === 'github' && pattern.replace(/\/$/, '').includes('/'));
  let source = isAnchored ? '^' : '^(?:[^/]+/)*';
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    if (part === '**' && isLast && !isBelow && syntax === 'github') return new RegExp(`${source}.+$`);
    if (part === '**' && (!isLast || isBelow)) source += '(?:[^/]+/)*';
    else
      source += `${part === '*' ? '[^/]+' : part.replaceAll(/\*+/g, '[^/]*').replaceAll('?', '[^/]')}${isLast ? '' : '/'}`;
  }
  if (isBelow) return new RegExp(`${source}${parts.at(-1) === '**' ? '' : '/'}.+$`);
  const takesBelow = syntax === 'github' && !/^\*+$/.test(parts.at(-1) ?? '');
  return new RegExp(`${source}${takesBelow ? '(?:/.+)?' : ''}$`);
}
