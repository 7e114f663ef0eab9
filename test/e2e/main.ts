// What the stories on different hosts share: options, figures, screenshots.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createCleanup } from '../bench/fixture.ts';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';
import { connectTo } from './deployment.ts';
import type { E2eHost } from './host.ts';
import { takeScreenshot } from './screenshot.ts';
import { tellStory } from './story.ts';

const pullRequests = 20;
const good = 16;

export async function runStory(name: string, openHost: () => Promise<E2eHost>): Promise<void> {
  const { values } = parseArgs({
    options: {
      webhooks: { type: 'string', default: 'on' },
      screenshots: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const cleanup = createCleanup();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanup.run().then(() => process.exit(1)));
  try {
    const host = await openHost();
    cleanup.add(host.close);
    const webhooks = values.webhooks !== 'off';
    const connected = await connectTo(cleanup, host, { sweepSeconds: webhooks ? 30 : 1 });
    const outcome = await tellStory(cleanup, host, connected, { webhooks, settings: host.settings });
    for (const problem of outcome.problems) console.error(problem);
    if (values.screenshots !== undefined) {
      await mkdir(values.screenshots, { recursive: true });
      for (const [what, number] of Object.entries(outcome.examples))
        await takeScreenshot(
          host.pageOf(outcome.place, number),
          join(values.screenshots, `${name}-${what}.png`),
        );
    }
    const { calls } = outcome;
    const perLanded = calls === null ? null : calls.length / outcome.landed.length;
    if (calls !== null) printCalls(calls);
    const figures: Figure[] = [
      exactly('pull requests', outcome.numbers.length, pullRequests),
      exactly('landed', outcome.landed.length, good),
      exactly('commits on main, each green and what was tested', outcome.commits, good),
      noneOf('problems', outcome.problems.length),
      ...(perLanded === null
        ? []
        : [
            {
              name: 'API calls per landed pull request',
              value: perLanded,
              // Whoever is not told has to ask.
              ...(webhooks ? { goal: '<= 10', isMet: perLanded <= 10 } : {}),
            },
          ]),
      { name: 'minutes', value: outcome.minutes },
    ];
    if (values.json)
      console.log(JSON.stringify({ host: name, webhooks, figures, problems: outcome.problems }, null, 2));
    else for (const figure of figures) console.log(lineOf(figure));
    process.exitCode = figures.some(isMissed) ? 1 : 0;
  } finally {
    await cleanup.run();
  }
}

function printCalls(calls: readonly string[]): void {
  const counted = Object.entries(Object.groupBy(calls, (name) => name));
  const sorted = counted.toSorted(([, a], [, b]) => b!.length - a!.length);
  for (const [name, list] of sorted) console.error(`${String(list!.length).padStart(5)} ${name}`);
}

const exactly = (name: string, value: number, wanted: number): Figure => ({
  name,
  value,
  goal: String(wanted),
  isMet: value === wanted,
});
