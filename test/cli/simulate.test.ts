// `signalbox simulate` in front of the real service, with a history that a simulated queue left in its database.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { defaultSettings } from '#core/queue/settings.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import type { Figures } from '#tool/simulate/fit/figures.ts';
import type { RecordedHistory } from '#tool/simulate/fit/history.ts';
import { recordHistory } from '#tool/simulate/fit/recording.ts';
import { createLineWorkload } from '#tool/simulate/kernel/workload.ts';
import { compileCache } from '../support/compile-cache.ts';
import { main, openWorldForTest, type World } from '../support/harness.ts';
import { insertRows, sql } from '../support/sql.ts';

const entry = new URL('../../src/signalbox.ts', import.meta.url).pathname;
const run = promisify(execFile);

const idOf = (index: number) => `01940000-0000-7000-8000-${String(index).padStart(12, '0')}`;

async function storeHistory({ cell: { db } }: World, { attempts, runs }: RecordedHistory): Promise<void> {
  const [queue] = await sql<{ id: string }>(db)`select id from queue`;
  const queueId = queue!.id;
  // The last of it ended a minute ago.
  const offset = Date.now() - 60_000 - Math.max(...attempts.map(({ concludedAt }) => concludedAt));
  const at = (ms: number) => new Date(Math.round(ms + offset));
  await sql(db)`create table attempt_sample partition of attempt default`;
  for (const past of attempts)
    await insertRows(db, 'attempt', [
      {
        queue_id: queueId,
        concluded_at: at(past.concludedAt),
        pr_number: past.pr,
        attempt: past.attempt,
        conclusion: past.outcome,
        reason: past.outcome === 'merged' ? 'MERGE_GRAPH_MERGE' : 'TEST_RUN_REQUIRED_STATUS_FAILED',
        submitted_at: at(past.submittedAt),
        queued_at: at(past.queuedAt),
        in_queue_ms: Math.round(past.concludedAt - past.queuedAt),
        head_sha: past.headSha,
      },
    ]);
  for (const [index, past] of runs.entries()) {
    const statuses = { passed: 'succeeded', failed: 'failed', cancelled: 'cancelled' };
    await insertRows(db, 'test_run', [
      {
        queue_id: queueId,
        id: idOf(index),
        number: index,
        status: statuses[past.outcome],
        test_branch: 'told',
        created_at: at(past.createdAt),
        pushed_at: at(past.pushedAt),
        concluded_at: at(past.concludedAt),
      },
    ]);
    const members = [...past.ahead, ...past.tested].map((number, position) => ({
      queue_id: queueId,
      test_run_id: idOf(index),
      position,
      pr_number: number,
      head_sha: `head-${number}`,
      under_test: position >= past.ahead.length,
    }));
    await insertRows(db, 'test_run_member', members);
  }
}

async function openCommand(history: RecordedHistory | null) {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', { ...main, strategy: 'adaptive' });
  if (history !== null) await storeHistory(world, history);
  const url = await world.server.listen({ host: '127.0.0.1', port: 0 });
  const { id } = await ensureOrganization(world.cell.db, 'acme', 'acme');
  const token = await createToken(world.cell, id, { name: 'reader', scopes: ['read'], expiresAt: null });
  const PATH = process.env['PATH'] ?? '';
  const env = { PATH, ...compileCache, SIGNALBOX_URL: url, SIGNALBOX_API_TOKEN: token };
  const where = ['--repo', 'sandbox.example/acme/widgets', '--branch', 'main'];
  return (...args: readonly string[]) =>
    run(process.execPath, [entry, 'simulate', ...where, ...args], { env });
}

type Report = {
  readonly history: { readonly submissions: number; readonly testRuns: number; readonly figures: Figures };
  readonly check: { readonly isGoodFit: boolean };
  readonly now: { readonly mean: Figures };
  readonly asked: { readonly set: string; readonly mean: Figures };
};

it('plays the history of a queue with its settings and with others, and recommends some', async () => {
  const workload = createLineWorkload({
    seed: 3,
    count: 120,
    arrivalsPerHour: 10,
    passProbability: 0.95,
    flakeProbability: 0.02,
    predictor: { kind: 'prior' },
  });
  const { history } = recordHistory(workload, defaultSettings);
  const simulate = await openCommand(history);

  const { stdout } = await simulate('--set', 'batch=true', '--set', 'batchingMinSize=4', '--json');
  const { history: read, check, now, asked } = JSON.parse(stdout) as Report;
  expect(read.submissions).toBe(120);
  expect(read.testRuns).toBe(history.runs.filter(({ outcome }) => outcome !== 'cancelled').length);
  const mergedMs = history.attempts.filter(({ outcome }) => outcome === 'merged');
  expect(read.figures.merged).toBe(mergedMs.length);
  expect(check.isGoodFit).toBe(true);
  expect(asked.set).toBe('strategy=manual batch=true');
  expect(asked.mean.ciMinutesPerMerged).toBeLessThan(now.mean.ciMinutesPerMerged);

  const words = (await simulate()).stdout;
  expect(words).toContain('120 submissions');
  expect(words).toMatch(/time in queue, P95: .* → /);
  expect(words).toMatch(
    /^ {2}signalbox queue set --repo sandbox.example\/acme\/widgets --branch main \w+=\w+/m,
  );
});

it('says what to do where there is too little history, or a wish makes no sense', async () => {
  const simulate = await openCommand(null);
  await expect(simulate()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('--days') });
  const wrong = { code: 2, stderr: expect.stringContaining('no setting') };
  await expect(simulate('--set', 'speed=9')).rejects.toMatchObject(wrong);
  await expect(simulate('--goal', 'fun')).rejects.toMatchObject({ code: 2 });
});
