import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repositoryOfRemote, repositoryOfText } from './remote-url.ts';

const named = (address: string) => {
  const found = repositoryOfRemote(address);
  return found === null ? null : [found.host, found.owner, found.name];
};

describe('the repository that a remote names', () => {
  it.each([
    ['https://github.com/acme/widgets.git', 'github.com', 'acme', 'widgets'],
    ['https://github.com/acme/widgets', 'github.com', 'acme', 'widgets'],
    ['https://github.com/acme/widgets/', 'github.com', 'acme', 'widgets'],
    ['https://GitHub.com/Acme/Widgets.git', 'github.com', 'Acme', 'Widgets'],
    ['https://user:secret@git.example:8443/acme/widgets.git', 'git.example:8443', 'acme', 'widgets'],
    ['https://gitlab.example/group/sub/deep/widgets.git', 'gitlab.example', 'group/sub/deep', 'widgets'],
    ['http://127.0.0.1:3000/acme/widgets.git', '127.0.0.1:3000', 'acme', 'widgets'],
    ['ssh://git@git.example:2222/acme/widgets.git', 'git.example', 'acme', 'widgets'],
    ['git+ssh://git@git.example/acme/widgets.git', 'git.example', 'acme', 'widgets'],
    ['git://git.example/acme/widgets', 'git.example', 'acme', 'widgets'],
    ['git@github.com:acme/widgets.git', 'github.com', 'acme', 'widgets'],
    ['git@gitlab.example:group/sub/widgets.git', 'gitlab.example', 'group/sub', 'widgets'],
    ['work:acme/widgets', 'work', 'acme', 'widgets'],
    ['git@github.com:acme/dotted.name.js.git\n', 'github.com', 'acme', 'dotted.name.js'],
    ['https://acme@dev.azure.com/acme/project/_git/widgets', 'dev.azure.com', 'acme/project', 'widgets'],
    ['git@ssh.dev.azure.com:v3/acme/project/widgets', 'dev.azure.com', 'acme/project', 'widgets'],
  ])('%s', (address, host, owner, name) => {
    expect(named(address)).toEqual([host, owner, name]);
  });

  it.each([
    '',
    '/srv/git/widgets.git',
    '../widgets',
    'file:///srv/git/acme/widgets',
    'C:\\git\\widgets',
    'widgets',
  ])('is none for %j', (address) => {
    expect(repositoryOfRemote(address)).toBeNull();
  });

  it('never holds the login, whatever it is made of', () => {
    const login = fc.stringMatching(/^[A-Za-z0-9:%@._-]{1,30}$/);
    fc.assert(
      fc.property(login, (secret) => {
        expect(named(`https://${secret}@git.example/acme/widgets.git`)).toEqual([
          'git.example',
          'acme',
          'widgets',
        ]);
      }),
    );
  });

  it('is never made of an address without all three parts', () => {
    fc.assert(
      fc.property(fc.string(), (address) => {
        const found = repositoryOfRemote(address) ?? { host: 'h', owner: 'o', name: 'n' };
        expect(Object.values(found)).not.toContain('');
        expect(found.name).not.toContain('/');
      }),
    );
  });
});

describe('a repository as people write it', () => {
  it('is host, owner and name, with slashes in the owner', () => {
    expect(repositoryOfText('git.example:3000/group/sub/widgets')).toEqual({
      host: 'git.example:3000',
      owner: 'group/sub',
      name: 'widgets',
    });
  });

  it('may be copied from the address line', () => {
    expect(repositoryOfText('https://github.com/acme/widgets/')).toMatchObject({ host: 'github.com' });
  });

  it('is none without a host', () => {
    expect(repositoryOfText('acme/widgets')).toBeNull();
  });
});
