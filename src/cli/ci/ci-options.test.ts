import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Command } from 'commander';
import { type CiOptions, findPlace, parseOptions, withCiOptions, withExitCodeOptions } from './ci-options.ts';

const env = {
  SIGNALBOX_URL: 'https://signalbox.example/',
  SIGNALBOX_API_TOKEN: 'token',
  SIGNALBOX_ORG: 'acme',
};

function parseArguments(args: readonly string[], given: Readonly<Record<string, string>> = env): CiOptions {
  const command = withExitCodeOptions(
    withCiOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} })),
  );
  return parseOptions(command.parse([...args], { from: 'user' }).opts(), given);
}

describe('options', () => {
  it('come from the environment where they are not given', () => {
    expect(parseArguments([])).toMatchObject({
      patterns: [],
      client: { url: 'https://signalbox.example', token: 'token', organization: 'acme' },
      place: {},
      waitMs: 20_000,
      failureCodes: [1],
      missingPercentMax: 1,
    });
  });

  it('stand above the environment', () => {
    const args = [
      '--url',
      'http://localhost:8080',
      '--org',
      'other',
      '--junit',
      'a.xml',
      '--junit',
      'b/*.xml',
      '--pr',
      '7',
    ];
    expect(parseArguments([...args, '--failure-code', '1,2', '--failure-code', '100'])).toMatchObject({
      patterns: ['a.xml', 'b/*.xml'],
      client: { url: 'http://localhost:8080', organization: 'other' },
      place: { prNumber: 7 },
      failureCodes: [1, 2, 100],
    });
  });

  it.each([
    ['--repo', 'acme/widgets', /host\/owner\/name/],
    ['--sha', 'main', /full commit id/],
    ['--pr', 'x', /number of a pull request/],
    ['--wait', 'long', /seconds/],
    ['--failure-code', '0', /exit codes/],
    ['--failure-code', '130', /exit codes/],
    ['--missing-tolerance', 'some', /percent/],
    ['--url', 'signalbox', /http:\/\/ or https:\/\/ URL/],
    ['--token-file', '/nonexistent/token', /token could not be read/],
    ['--unknown', 'x', /unknown/i],
  ])('are refused when wrong: %s %s', (name, value, why) => {
    expect(() => parseArguments([name, value])).toThrow(why);
  });

  it('refuse what is no option', () => {
    expect(() => parseArguments(['junit.xml'])).toThrow(/too many arguments/);
  });
});

describe('where it ran', () => {
  let cwd: string;
  const git = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'signalbox-place-'));
    git('init', '-q', '-b', 'trunk');
    git(
      '-c',
      'user.name=dev',
      '-c',
      'user.email=dev@example.com',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'one',
    );
    git('remote', 'add', 'origin', 'git@git.example:group/sub/widgets.git');
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  it('is what the checkout says, where no CI says anything', async () => {
    expect(await findPlace(parseArguments([]), {}, cwd)).toMatchObject({
      provider: null,
      repository: { host: 'git.example', owner: 'group/sub', name: 'widgets' },
      sha: git('rev-parse', 'HEAD'),
      branch: 'trunk',
      prNumber: null,
    });
  });

  it('is what CI says, with the event that CI describes in a file', async () => {
    const sha = 'a'.repeat(40);
    const event = join(cwd, 'event.json');
    writeFileSync(event, JSON.stringify({ pull_request: { number: 7, head: { sha, ref: 'fix' } } }));
    const ci = {
      GITHUB_ACTIONS: 'true',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'acme/widgets',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_SHA: 'b'.repeat(40),
      GITHUB_EVENT_PATH: event,
    };
    expect(await findPlace(parseArguments([]), ci, cwd)).toMatchObject({ sha, branch: 'fix', prNumber: 7 });
    const requested = parseArguments(['--repo', 'github.com/acme/other', '--branch', 'b', '--job', 'mine']);
    expect(await findPlace(requested, ci, cwd)).toMatchObject({
      repository: { name: 'other' },
      branch: 'b',
      job: 'mine',
      sha,
    });
  });

  it('is another source with changes that are not committed, and the same one with the same changes', async () => {
    const shaNow = async () => (await findPlace(parseArguments([]), {}, cwd)).sha;
    writeFileSync(join(cwd, 'cart.js'), 'one');
    expect(await shaNow()).toBe(git('rev-parse', 'HEAD'));
    git('add', '.');
    const changed = await shaNow();
    expect(changed).toMatch(/^[0-9a-f]{40}$/);
    expect(changed).not.toBe(git('rev-parse', 'HEAD'));
    expect(await shaNow()).toBe(changed);
    writeFileSync(join(cwd, 'cart.js'), 'two');
    expect(await shaNow()).not.toBe(changed);
  });

  it('has no branch but itself when none is checked out, and nothing outside of a checkout', async () => {
    git('checkout', '-q', '--detach');
    expect(await findPlace(parseArguments([]), {}, cwd)).toMatchObject({ branch: 'HEAD' });
    expect(await findPlace(parseArguments([]), {}, '/')).toMatchObject({
      repository: null,
      sha: null,
      branch: null,
    });
  });
});
