import { describe, expect, it } from 'vitest';
import { demoRepositories } from './repository.ts';
import { failuresBy, drawFlakes, listFlakyTests, renderJunitReport, listDemoTests } from './suite.ts';

const [shop] = demoRepositories as [(typeof demoRepositories)[0]];

describe('the tests of a repository', () => {
  it('fail in an area that the change touches, and never one that is known to flake', () => {
    const flaky = new Set(listFlakyTests(shop).map(({ name }) => name));
    for (const area of shop.areas)
      for (let number = 1; number <= 8; number += 1) {
        const failed = failuresBy(shop, { number, targets: [`//shop/${area}`] });
        expect(failed.length).toBeGreaterThan(0);
        for (const test of failed) expect([test.area, flaky.has(test.name)]).toEqual([area, false]);
      }
  });

  it('flake about as often as asked, the same ones every time', () => {
    const runs = Array.from({ length: 2_000 }, (_, run) => drawFlakes(shop, 0.1, 1, run));
    const share = runs.filter((failed) => failed.length > 0).length / runs.length;
    expect(share).toBeGreaterThan(0.07);
    expect(share).toBeLessThan(0.13);
    expect(runs[5]).toEqual(drawFlakes(shop, 0.1, 1, 5));
    expect(drawFlakes(shop, 0, 1, 5)).toEqual([]);
  });

  it('are all in the report, with what failed', () => {
    const failed = failuresBy(shop, { number: 3, targets: ['//shop/cart'] });
    const report = renderJunitReport(shop, failed);
    expect(report.match(/<testcase/g)).toHaveLength(listDemoTests(shop).length);
    expect(report.match(/<failure/g)).toHaveLength(failed.length);
  });
});
