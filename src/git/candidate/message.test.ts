import { describe, expect, it } from 'vitest';
import { mergeMessage, type PullRequestDescription, squashMessage } from './message.ts';
import { commitBytes, parseCommit, signature } from '../object.ts';

const ada = { name: 'Ada', email: 'ada@example.com' };
const describePullRequest = (pull: Partial<PullRequestDescription>): PullRequestDescription => ({
  number: 4,
  title: 'Make it so',
  body: '',
  url: 'https://host.example/4',
  author: null,
  ...pull,
});
const squash = (pull: Partial<PullRequestDescription>) => squashMessage(describePullRequest(pull), [], ada);

describe('the message of a squash', () => {
  it('is the title with the number, and the body', () => {
    expect(squash({})).toBe('Make it so (#4)\n');
    expect(squash({ body: '  \r\n\r\nBecause.\r\n\r\n\r\n\r\nReally.  \n' })).toBe(
      'Make it so (#4)\n\nBecause.\n\nReally.\n',
    );
  });

  it('has the title that a line of the body asks for, and not that line', () => {
    expect(squash({ body: 'Before\n  Merge-Commit-Title:  feat: so  \nAfter' })).toBe(
      'feat: so\n\nBefore\nAfter\n',
    );
    expect(squash({ body: 'merge-commit-title:\nText' })).toBe('Make it so (#4)\n\nText\n');
    expect(squash({ body: 'Do not write merge-commit-title: here' })).toMatch(/^Make it so/);
  });

  it('is one line of title whatever the host sends', () => {
    expect(squash({ title: ' a\nb\0\t c ' })).toBe('a b c (#4)\n');
    expect(squash({ title: '' })).toBe('Untitled (#4)\n');
  });

  it('adds co-authors to the trailers that the body ends with', () => {
    const body = 'Text\n\nSigned-off-by: Ada <ada@example.com>\nCo-authored-by: Bob <bob@example.com>';
    expect(squash({ body })).toBe(
      'Make it so (#4)\n\nText\n\nSigned-off-by: Ada <ada@example.com>\nCo-authored-by: Bob <bob@example.com>\n',
    );
  });
});

it('the message of a merge has the number, the title and the address', () => {
  expect(mergeMessage(describePullRequest({}))).toBe('Merge #4: Make it so\n\nhttps://host.example/4\n');
  expect(mergeMessage(describePullRequest({ body: 'merge-commit-title: Mine', url: '' }))).toBe('Mine\n');
});

describe('a commit', () => {
  const tree = 'a'.repeat(40);

  it('is read as it was put together', () => {
    const bytes = commitBytes(tree, ['b'.repeat(40), 'c'.repeat(40)], signature(ada, new Date(5_000)), {
      author: signature({ name: 'Bob', email: 'bob@example.com' }, new Date(7_900)),
      message: Buffer.from('Words\n\nMore\n'),
      encoding: null,
    });
    expect(parseCommit('d'.repeat(40), bytes)).toMatchObject({
      tree,
      parents: ['b'.repeat(40), 'c'.repeat(40)],
      author: { name: 'Bob', email: 'bob@example.com' },
      authoredAt: new Date(7_000),
      message: 'Words\n\nMore\n',
    });
  });

  it('keeps the bytes of an old encoding, and is read with it', () => {
    const latin = (text: string) => Buffer.from(text, 'latin1');
    const raw = {
      author: latin('J\xf6rg <j@x> 1 +0000'),
      message: latin('gr\xfcn\n'),
      encoding: 'ISO-8859-1',
    };
    const commit = parseCommit('d'.repeat(40), commitBytes(tree, [], signature(ada, new Date(0)), raw));
    expect(commit.author.name).toBe('Jörg');
    expect(commit.message).toBe('grün\n');
    expect(commit.raw).toEqual(raw);
  });

  it('always has a name, whatever the given name is', () => {
    expect(signature({ name: ' <\n> ', email: 'a>b' }, new Date(-1)).toString()).toBe(
      'unknown <a b> 0 +0000',
    );
  });
});

describe('who is named', () => {
  const commit = (author: { name: string; email: string }, message = 'Work') =>
    ({ author, message }) as Parameters<typeof squashMessage>[1][number];
  const ada = { name: 'Ada', email: '7+ada@users.noreply.github.com' };

  it('an address of the account without its number is the same person, every other author a co-author', () => {
    const commits = [
      commit({ name: 'ada', email: 'ada@users.noreply.github.com' }),
      commit({ name: 'Grace', email: 'grace@example.com' }),
    ];
    const text = squashMessage({ number: 1, title: 'T', body: '', url: '', author: null }, commits, ada);
    expect(text).toBe('T (#1)\n\nCo-authored-by: Grace <grace@example.com>\n');
  });

  it('a title or a body cannot keep CI from running, nor vouch for the change', () => {
    const body = 'merge-commit-title: Fix [ci skip]\nWhy\n\nReviewed-by: grace\nskip-checks: true';
    const pull = { number: 1, title: 'T [skip ci]', body, url: '', author: null };
    expect(squashMessage(pull, [], ada)).toBe(
      'Fix (ci skip)\n\nWhy\n\n(Reviewed-by: grace)\n(skip-checks: true)\n',
    );
    expect(mergeMessage({ ...pull, body: '' })).toBe('Merge #1: T (skip ci)\n');
  });

  it('takes time in proportion to the text', () => {
    const body = `co-authored-by:${' '.repeat(256_000)}\n${' '.repeat(256_000)}`;
    const start = performance.now();
    squashMessage({ number: 1, title: 'T', body, url: '', author: null }, [commit(ada, body)], ada);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
