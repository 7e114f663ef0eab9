import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase } from './database.ts';
import { main, pr } from './harness.ts';
import { peakMemoryMiB, post, type ServerProcess, startProcess } from './server-process.ts';

const token = 'fake-token-for-tests-0123';

describe('200,000 impacted targets, about 15 MiB', () => {
  let database: string;
  let server: ServerProcess;
  const impactedTargets = Array.from(
    { length: 200_000 },
    (_, index) =>
      `//services/area-${index % 97}/package-${index % 4_001}/some/much/deeper/folder/still:target_${index}`,
  );
  const bodyFor = (number: number) => JSON.stringify({ ...pr(number), impactedTargets });

  beforeAll(async () => {
    database = await createDatabase();
    server = await startProcess('start', databaseUrl(database), {
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
      SIGNALBOX_BOOTSTRAP_TOKEN: token,
    });
    await post(server.url, '/v1/createQueue', token, JSON.stringify({ ...main, mode: 'parallel' }));
  });
  afterAll(async () => {
    await server.stop();
    await dropDatabase(database);
  });

  it('are taken in under a second', async () => {
    const body = bodyFor(1);
    expect(body.length).toBeGreaterThan(14 * 1_048_576);
    const startedAt = performance.now();
    const answer = await post(server.url, '/v1/setImpactedTargets', token, body);
    const elapsedMs = performance.now() - startedAt;
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    expect(elapsedMs).toBeLessThan(1_000);
  });

  it('may come twenty at once within 1 GiB of memory', async () => {
    const bodies = Array.from({ length: 20 }, (_, index) => bodyFor(index + 2));
    const answers = await Promise.all(
      bodies.map((body) => post(server.url, '/v1/setImpactedTargets', token, body)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
    const peak = peakMemoryMiB(server.pid);
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThan(1_024);
  });
});
