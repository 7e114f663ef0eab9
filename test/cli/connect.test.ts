// `signalbox connect` against a service and a Git host.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '#program.ts';
import { type GithubServer, startGithubServer } from '../github-server/server.ts';
import { captureOutput } from '../support/captured-output.ts';
import { openWorld, type World } from '../support/harness.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';

describe('signalbox connect', () => {
  let github: GithubServer;
  let world: World & { close: () => Promise<void> };
  let url: string;
  let token: string;
  let folder: string;
  beforeAll(async () => {
    github = await startGithubServer({ mergeabilityMs: 1 });
    await github.newRepository('acme/widgets', { access: {} });
    world = await openWorld({
      config: { sandbox: 'off', secretKey: randomBytes(32), gitHosts: [github.url] },
    });
    url = await world.server.listen({ host: '127.0.0.1', port: 0 });
    const { id } = await ensureOrganization(world.cell.db, 'acme', 'acme');
    token = await createToken(world.cell, id, { name: 'admin', scopes: ['read', 'admin'], expiresAt: null });
    folder = await mkdtemp(join(tmpdir(), 'signalbox-connect-'));
    await writeFile(join(folder, 'app.pem'), github.privateKey);
    await writeFile(join(folder, 'token'), 'obviously-fake');
  });
  afterAll(async () => {
    await github.stop();
    await world.close();
    await rm(folder, { recursive: true });
  });

  async function run(...args: readonly string[]) {
    const { result: code, output } = await captureOutput(() =>
      runProgram({
        cwd: folder,
        env: { HOME: folder, SIGNALBOX_URL: url, SIGNALBOX_API_TOKEN: token },
        version: '0',
        args: ['connect', ...args],
        service: () => Promise.resolve(0),
        demo: () => Promise.resolve(0),
      }),
    );
    return { code, output };
  }

  const app = () => {
    const { appId, installationId } = github;
    const numbers = `--app-id ${appId} --installation-id ${installationId}`.split(' ');
    return [github.url, '--kind', 'github', ...numbers, '--private-key-file', join(folder, 'app.pem')];
  };

  it('connects a GitHub App, and says what it reaches and what to do next', async () => {
    const { code, output } = await run(...app());
    const { host } = new URL(github.url);
    expect(output).toContain(`Connected to ${host} (GitHub Enterprise Server`);
    expect(output).toContain(`  ${host}/acme/widgets`);
    expect(output).toContain(`signalbox queue create --repo ${host}/acme/widgets --branch main`);
    expect(code).toBe(0);
  });

  it('prints what the App lacks', async () => {
    github.setPermissions({ metadata: 'read', contents: 'write', issues: 'write', checks: 'write' });
    const { code, output } = await run(...app());
    expect(output).toContain('The App lacks the permission “Pull requests: read and write”');
    expect(code).toBe(0);
  });

  it('says why a token is refused, and never shows it', async () => {
    const file = join(folder, 'token');
    const { code, output } = await run(github.url, '--kind', 'github', '--host-token-file', file);
    expect(output).toMatch(/token|credentials/i);
    expect(output).not.toContain('obviously-fake');
    expect(code).not.toBe(0);
  });

  it.each([
    [['https://git.example', '--host-token-file', 'token'], 'The kind of https://git.example is not known'],
    [['https://github.com'], 'The credentials are missing'],
    [['https://github.com', '--kind', 'svn', '--host-token-file', 'token'], 'svn is not a valid --kind'],
    [['https://github.com', '--app-id', 'x'], 'It is not a number above 0'],
    [['https://github.com', '--host-token-file', '/nowhere'], 'A file could not be read'],
  ])('explains a mistake: %j', async (args, why) => {
    const { code, output } = await run(...args);
    expect(output).toContain(why);
    expect(code).toBe(2);
  });
});
