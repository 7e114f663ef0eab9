// CI, required checks and webhooks of the sandbox.
import { describe, expect, it } from 'vitest';
import type { HostEvent } from '#core/queue/host-event.ts';
import { openHosts } from '../../src/hosts.ts';
import { emptyFolder, git, numbered, openSandbox, type SandboxWorld } from '../fixture/sandbox.ts';
import { widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

const atOnce = { durationMs: 0 };

const configure = ({ team }: SandboxWorld, settings: object) =>
  team.call('sandboxConfigureRepository', { repo: widgets, ...settings });

/** Pushes as the queue does: on disk, then the host is told. */
async function push(sandbox: SandboxWorld, branch: string, sha: string): Promise<void> {
  const { url } = await sandbox.host.remoteOf(sandbox.repository);
  const ref = `refs/heads/${branch}`;
  await git(url, 'update-ref', ref, sha);
  await sandbox.host.afterPush(sandbox.repository, [{ ref, from: null, to: sha }]);
}

async function headOf(sandbox: SandboxWorld, number: number, files?: object): Promise<string> {
  const input = { ...numbered(number), files };
  return (await sandbox.team.call('sandboxCreatePullRequest', input)).pullRequest.sha;
}

const checksOf = async ({ host, repository }: SandboxWorld, sha: string) =>
  (await host.readChecks(repository, sha)).map((check) =>
    check.kind === 'status' ? `${check.name} ${check.state}` : check.name,
  );

describe('CI of the sandbox', () => {
  it('reports what it requires: pending after the push, passed when it is due', async () => {
    const sandbox = await openSandbox();
    await configure(sandbox, { ci: { ...atOnce, contexts: ['build', 'test'] } });
    expect(await sandbox.host.readRequiredChecks(sandbox.repository, 'main')).toEqual([
      { name: 'build', source: null },
      { name: 'test', source: null },
    ]);
    const sha = await headOf(sandbox, 1);
    expect(await checksOf(sandbox, sha)).toEqual([]);
    await push(sandbox, 'signalbox/main/1', sha);
    expect(await checksOf(sandbox, sha)).toEqual(['build pending', 'test pending']);
    await sandbox.runCi();
    expect(await checksOf(sandbox, sha)).toEqual(['build success', 'test success']);
  });

  it('takes the time that was set', async () => {
    const sandbox = await openSandbox();
    const sha = await headOf(sandbox, 1);
    await push(sandbox, 'signalbox/main/1', sha);
    const rows = await sql<{ ms: number }>(sandbox.world.cell.db)`
      select extract(epoch from run_at - created_at)::float8 * 1000 as ms from graphile_worker.jobs
      where task_identifier = 'sandbox-ci'`;
    expect(rows).toHaveLength(1);
    expect(rows[0]!.ms).toBeGreaterThanOrEqual(1_000);
    expect(rows[0]!.ms).toBeLessThanOrEqual(3_000);
  });

  it('begins by itself where nobody told of the push', async () => {
    const sandbox = await openSandbox();
    await configure(sandbox, { ci: atOnce });
    const sha = await headOf(sandbox, 1);
    const { url } = await sandbox.host.remoteOf(sandbox.repository);
    await git(url, 'update-ref', 'refs/heads/signalbox/main/1', sha);
    expect(await checksOf(sandbox, sha)).toEqual(['ci/test pending']);
    await sandbox.runCi();
    expect(await checksOf(sandbox, sha)).toEqual(['ci/test success']);
    await git(url, 'update-ref', 'refs/heads/signalbox/main/2', sha);
    expect(await checksOf(sandbox, sha)).toEqual(['ci/test pending']);
  });

  it('runs for the target branch and pull requests only where that is set', async () => {
    const sandbox = await openSandbox();
    await configure(sandbox, { ci: atOnce });
    const before = await sandbox.team.call('sandboxCommit', {
      repo: widgets,
      branch: 'main',
      files: { 'a.txt': 'a' },
    });
    expect(await checksOf(sandbox, before.sha!)).toEqual([]);
    await configure(sandbox, { ciOn: 'all' });
    const after = await sandbox.team.call('sandboxCommit', {
      repo: widgets,
      branch: 'main',
      files: { 'a.txt': 'b' },
    });
    const head = await headOf(sandbox, 3);
    await sandbox.runCi();
    expect(await checksOf(sandbox, after.sha!)).toEqual(['ci/test success']);
    expect(await checksOf(sandbox, head)).toEqual(['ci/test success']);
  });

  it('is decided by the script of the merged tree', async () => {
    const sandbox = await openSandbox();
    await configure(sandbox, { ci: { ...atOnce, script: true, timeoutMs: 1_500 } });
    const script = (text: string) => ({ 'ci.sh': { content: `#!/bin/sh\n${text}\n`, executable: true } });
    const heads = {
      passing: await headOf(sandbox, 1, {
        ...script('test "$(cat answer.txt)" = 42 && ls'),
        'answer.txt': '42',
      }),
      failing: await headOf(sandbox, 2, {
        ...script('echo is $(cat answer.txt); exit 3'),
        'answer.txt': '41',
      }),
      bare: await headOf(
        sandbox,
        3,
        script('env | grep -v -e PATH -e PWD -e SHLVL -e ^_= && exit 1; exit 0'),
      ),
      endless: await headOf(sandbox, 4, script('sleep 600 & sleep 600')),
      missing: await headOf(sandbox, 5, { 'ci.sh': null }),
    };
    for (const [name, sha] of Object.entries(heads)) await push(sandbox, `signalbox/main/${name}`, sha);
    await sandbox.runCi();
    const outcomes: Record<string, string> = {};
    for (const [name, sha] of Object.entries(heads)) outcomes[name] = (await checksOf(sandbox, sha)).join();
    expect(outcomes).toEqual({
      passing: 'ci/test success',
      failing: 'ci/test failure',
      bare: 'ci/test success',
      endless: 'ci/test failure',
      missing: 'ci/test failure',
    });
    const shown = await sandbox.team.call('sandboxGetRepository', { repo: widgets, sha: heads.failing });
    expect(shown.ciRuns).toMatchObject([{ attempt: 1, outcome: 'failure', log: 'is 41\n' }]);
  });

  it('runs no script unless the operator allows it', async () => {
    const sandbox = await openSandbox();
    const { cells, deps } = sandbox.world;
    const options = {
      ...deps,
      ...deps.config,
      dataDir: await emptyFolder(),
      secretKey: null,
      publicUrl: null,
    };
    const { hostFor } = await openHosts({ ...options, sandboxScripts: false }, cells);
    const host = hostFor('main', widgets.host)!;
    const { control } = host as typeof sandbox.host;
    await expect(control.configure(sandbox.repository, { ci: { script: true } })).rejects.toThrow(
      /SIGNALBOX_SANDBOX_SCRIPTS=on/,
    );
  });

  it('is flaky by its seed: the same story again, another one by another seed', async () => {
    const tell = async (seed: string) => {
      const sandbox = await openSandbox();
      await configure(sandbox, { ci: { ...atOnce, flakeRate: 0.5, seed } });
      const sha = await headOf(sandbox, 1);
      const outcomes: string[] = [];
      for (let run = 1; run <= 12; run += 1) {
        // A restarted run is the same commit on another branch: it is tested anew.
        await push(sandbox, `signalbox/main/${run}`, sha);
        expect(await checksOf(sandbox, sha)).toEqual(['ci/test pending']);
        await sandbox.runCi();
        outcomes.push((await checksOf(sandbox, sha)).join());
      }
      return outcomes.map((outcome) => outcome.replace('ci/test ', '')).join(' ');
    };
    const story = await tell('a');
    expect(story).toMatch('failure');
    expect(story).toMatch('success');
    expect(await tell('a')).toBe(story);
    expect(await tell('b')).not.toBe(story);
  });

  it('does nothing by itself when it is manual', async () => {
    const sandbox = await openSandbox();
    await configure(sandbox, { ci: { ...atOnce, mode: 'manual' } });
    const sha = await headOf(sandbox, 1);
    await push(sandbox, 'signalbox/main/1', sha);
    await sandbox.runCi();
    expect(await checksOf(sandbox, sha)).toEqual(['ci/test pending']);
    const word = { repo: widgets, sha, name: 'ci/test', url: 'https://ci.example/1' };
    await sandbox.team.call('sandboxSetCheck', { ...word, state: 'failure' });
    await sandbox.team.call('sandboxSetCheck', { ...word, name: 'lint', state: 'success' });
    expect(await checksOf(sandbox, sha)).toEqual(['ci/test failure', 'lint success']);
    const unknown = { repo: widgets, testRunOf: 1, name: 'ci/test', state: 'success' };
    expect((await sandbox.team.refusal('sandboxSetCheck', unknown, 404)).code).toBe('TEST_RUN_NOT_FOUND');
  });

  it('keeps what it was told before the push when it is manual', async () => {
    const sandbox = await openSandbox();
    await configure(sandbox, { ci: { ...atOnce, mode: 'manual' } });
    const sha = await headOf(sandbox, 1);
    await sandbox.team.call('sandboxSetCheck', { repo: widgets, sha, name: 'ci/test', state: 'success' });
    await push(sandbox, 'signalbox/main/1', sha);
    expect(await checksOf(sandbox, sha)).toEqual(['ci/test success']);
  });

  it('can be told the end of the newest test run of a pull request', async () => {
    const sandbox = await openSandbox();
    await sandbox.team.call('createQueue', { repo: widgets, targetBranch: 'main' });
    const shas = ['a'.repeat(40), 'b'.repeat(40)];
    for (const [index, sha] of shas.entries())
      await sql(sandbox.world.cell.db)`with run as (
          insert into test_run (queue_id, id, test_branch, test_branch_sha, created_at)
          select id, gen_random_uuid(), ${`signalbox/${index}`}, ${sha}, now() + ${index} * interval '1 second' from queue
          returning queue_id, id)
        insert into test_run_member (queue_id, test_run_id, position, pr_number, head_sha)
        select queue_id, id, 0, 1, ${sha} from run`;
    const word = { repo: widgets, testRunOf: 1, name: 'ci/test', state: 'success' };
    expect(await sandbox.team.call('sandboxSetCheck', word)).toEqual({ sha: shas[1] });
    expect(await checksOf(sandbox, shas[1]!)).toEqual(['ci/test success']);
  });

  it('is required as protection says', async () => {
    const sandbox = await openSandbox();
    const required = (branch: string) => sandbox.host.readRequiredChecks(sandbox.repository, branch);
    const main = { requiredChecks: ['lint', 'build'], requiredApps: { build: '15368' } };
    await configure(sandbox, { protection: { main, free: null } });
    expect(await required('main')).toEqual([
      { name: 'lint', source: null },
      { name: 'build', source: 'app:15368' },
    ]);
    expect(await required('free')).toBeNull();
    expect(await required('other')).toEqual([{ name: 'ci/test', source: null }]);
  });
});

describe('webhooks of the sandbox', () => {
  /** A second process, which sends its webhooks to a receiver of our own. */
  async function withReceiver(sandbox: SandboxWorld, publicUrl: string) {
    const { cells, deps } = sandbox.world;
    const options = {
      ...deps,
      ...deps.config,
      sandboxScripts: false,
      dataDir: await emptyFolder(),
      publicUrl,
    };
    const { hostFor } = await openHosts({ ...options, secretKey: null }, cells);
    return hostFor('main', widgets.host) as typeof sandbox.host;
  }
  const countRefreshes = async ({ world }: SandboxWorld) => {
    const rows = await sql<{ count: number }>(world.cell.db)`
      select count(*) from graphile_worker.jobs where task_identifier = 'refresh-pull-request'`;
    return rows[0]!.count;
  };

  it('arrive signed at our own receiver, and are understood', async () => {
    const sandbox = await openSandbox();
    const seen: HostEvent[] = [];
    // Webhooks reach the host by the name of their connection.
    const { deps } = sandbox.world;
    const receiver = deps.hostFor('main', '*')!;
    const parse = receiver.parseWebhook;
    Object.assign(receiver, {
      parseWebhook: (delivery: Parameters<typeof parse>[0]) => {
        const result = parse(delivery);
        if (result.kind === 'accepted') seen.push(...result.events);
        return result;
      },
    });
    const sender = await withReceiver(sandbox, sandbox.url);
    const { repository } = sandbox;
    const made = await sender.control.createPullRequest(repository, 4, { facts: {} });
    await sender.control.setCheck(repository, made.headSha, {
      name: 'lint',
      state: 'error',
      url: 'https://x',
    });
    const sha = await sender.control.commit(repository, { branch: 'main', files: { 'a.txt': 'a' } });
    await expect.poll(() => seen.length).toBe(3);
    expect(seen).toEqual(
      expect.arrayContaining([
        {
          kind: 'pull-request-changed',
          repository: widgets,
          number: 4,
          // The head of the opening is older than every act.
          head: { sha: made.headSha, at: 0 },
        },
        {
          kind: 'check-changed',
          repository: widgets,
          sha: made.headSha,
          check: {
            kind: 'status',
            name: 'lint',
            state: 'error',
            url: 'https://x',
            at: expect.any(Number) as unknown,
          },
        },
        { kind: 'branch-moved', repository: widgets, branch: 'main', sha },
      ]),
    );
    await expect.poll(() => countRefreshes(sandbox)).toBe(1);
  });

  it('are recorded directly where nobody receives them', async () => {
    const sandbox = await openSandbox();
    const sender = await withReceiver(sandbox, 'http://127.0.0.1:1');
    await sender.control.createPullRequest(sandbox.repository, 4, { facts: {} });
    await expect.poll(() => countRefreshes(sandbox)).toBe(1);
  });

  it('are dropped, doubled and late as the faults say', async () => {
    const sandbox = await openSandbox();
    await configure(sandbox, { faults: { webhooks: 'drop' } });
    await headOf(sandbox, 1);
    expect(await countRefreshes(sandbox)).toBe(0);
    await configure(sandbox, { faults: { webhooks: 'double', shuffleMs: 50 } });
    await headOf(sandbox, 1);
    await headOf(sandbox, 2);
    await expect.poll(() => countRefreshes(sandbox)).toBe(2);
  });
});
