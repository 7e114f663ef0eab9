// Gitea's own CI that is cancelled, and stopping it, on a real server without a runner: its jobs wait.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluateChecks } from '#core/queue/check.ts';
import { eventually, openPlace } from './contract.ts';
import { createGiteaWorld, type GiteaWorld } from './gitea-world.ts';

/** A later push to the same branch cancels the run of the one before. */
const workflow = `name: ci
on: [push]
concurrency: { group: 'ci-\${{ github.ref }}', cancel-in-progress: true }
jobs:
  test:
    runs-on: nowhere
    steps: [{ run: 'true' }]
`;

describe('CI of Gitea', () => {
  let world: GiteaWorld;
  beforeAll(async () => {
    world = await createGiteaWorld();
  }, 600_000);
  afterAll(() => world?.close());

  it('that was cancelled is an infrastructure failure; this version has no call to stop it', async () => {
    const place = await openPlace(world);
    const { host, repository } = place;
    await mkdir(join(await place.git('rev-parse', '--show-toplevel'), '.gitea/workflows'), {
      recursive: true,
    });
    const branch = 'signalbox/main/pr-1/1';
    const sha = await place.push(branch, { '.gitea/workflows/ci.yaml': workflow });
    const checksOf = () => host.readChecks(repository, sha);
    const begun = await eventually(checksOf, (checks) => checks.length > 0);
    expect(begun).toMatchObject([{ kind: 'check', name: 'ci / test (push)', status: 'in_progress' }]);
    expect(await host.stopRuns(repository, { branch, sha })).toEqual({
      kind: 'cannot',
      reason: 'This version of Gitea has no API to cancel a workflow run.',
    });
    await place.push(branch, { 'later.txt': 'later' });
    const ended = await eventually(
      checksOf,
      ([check]) => check?.kind === 'check' && check.status === 'completed',
    );
    expect(ended).toMatchObject([{ kind: 'check', conclusion: 'cancelled' }]);
    const required = [{ name: 'ci / test (push)', source: null }];
    expect(evaluateChecks(required, ended, [])).toMatchObject({ kind: 'infrastructure' });
    const unknown = { branch, sha: 'f'.repeat(40) };
    expect(await host.stopRuns(repository, unknown)).toEqual({ kind: 'stopped', count: 0 });
  });
});
