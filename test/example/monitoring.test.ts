// The rules and the dashboard that people copy, by the real promtool, and against what the service really serves.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { main, openWorldForTest, pr } from '../support/harness.ts';

const folder = 'examples/prometheus';

type Rule = {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: object;
};
type Rules = { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
type Scrape = { readonly http_headers?: unknown; readonly metrics_path?: string };
type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
};
type Dashboard = {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
};

const rules = (parse(readFileSync(`${folder}/rules.yml`, 'utf8')) as Rules).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(readFileSync('examples/grafana/signalbox.json', 'utf8')) as Dashboard;
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

function promtool(...args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync('promtool', [...args], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, said: stdout + stderr };
}

function fileWith(name: string, content: unknown): string {
  const at = mkdtempSync(join(tmpdir(), 'signalbox-monitoring-'));
  onTestFinished(() => rmSync(at, { recursive: true }));
  const file = join(at, name);
  writeFileSync(file, stringify(content));
  return file;
}

/** As Prometheus would get them, with its variables filled in. */
const asRules = (exprs: readonly string[]) => ({
  groups: [
    {
      name: 'queries',
      rules: exprs.map((expr, index) => ({
        record: `query:${index}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(repo|branch)\b/g, '.*'),
      })),
    },
  ],
});

describe('the rules for Prometheus', () => {
  it('are rules, and do what their tests say', () => {
    expect(promtool('check', 'rules', `${folder}/rules.yml`)).toMatchObject({ status: 0 });
    expect(promtool('test', 'rules', `${folder}/rules.test.yml`)).toMatchObject({ status: 0 });
  });

  it('say of every alarm what it is and what to do', () => {
    const alarms = rules.filter(({ alert }) => alert !== undefined);
    expect(alarms).toHaveLength(20);
    const sentence = expect.stringMatching(/\.$/) as string;
    for (const { annotations } of alarms)
      expect(annotations).toMatchObject({ summary: sentence, description: sentence });
  });

  it('come with a configuration that Prometheus takes', () => {
    const { scrape_configs: scrapes, ...rest } = parse(readFileSync(`${folder}/prometheus.yml`, 'utf8')) as {
      readonly scrape_configs: readonly Scrape[];
    };
    // The promtool of Debian is older than http_headers: what is under it is looked at here, the rest there.
    const known = scrapes.map((scrape) =>
      Object.fromEntries(Object.entries(scrape).filter(([key]) => key !== 'http_headers')),
    );
    const file = fileWith('prometheus.yml', { ...rest, rule_files: [], scrape_configs: known });
    expect(promtool('check', 'config', file)).toMatchObject({ status: 0 });
    expect(scrapes.find((scrape) => scrape.metrics_path !== undefined)).toMatchObject({
      metrics_path: '/v1/getMergeQueueMetrics',
      http_headers: { 'x-api-token': { files: ['/etc/prometheus/signalbox-token'] } },
    });
  });
});

describe('the dashboard for Grafana', () => {
  it('asks what Prometheus understands', () => {
    expect(queries.length).toBeGreaterThan(15);
    expect(promtool('check', 'rules', fileWith('queries.yml', asRules(queries)))).toMatchObject({
      status: 0,
    });
    const wrong = fileWith('queries.yml', asRules(['sum by (le) (']));
    expect(promtool('check', 'rules', wrong).status).not.toBe(0);
  });

  it('takes its data from the source that is chosen, and no panel hides another', () => {
    expect(dashboard.templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource' });
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const sources = panels
      .filter(({ type }) => type !== 'row')
      .flatMap(({ datasource, targets = [] }) => [datasource, ...targets.map((target) => target.datasource)]);
    expect(new Set(sources.map((source) => source?.uid))).toEqual(new Set(['${datasource}']));
    const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(places).size).toBe(places.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });
});

describe('what the rules and the dashboard name', () => {
  it('is what the service serves', async () => {
    const world = await openWorldForTest();
    const team = await world.client();
    await team.call('createQueue', main);
    await team.call('submitPullRequest', pr(1));
    await world.runJobs();
    const [queues, process] = await Promise.all(
      ['/v1/getMergeQueueMetrics', '/metrics'].map((path) => team.send({ method: 'GET', path })),
    );
    const text = `${String(queues?.body)}\n${String(process?.body)}`;
    const served = new Set([...text.matchAll(/^([a-z_:][a-z0-9_:]*)[{ ]/gim)].map(([, name]) => name!));
    const known = new Set([...served, 'up', ...rules.map(({ record }) => record!)]);
    const named = [...rules.map(({ expr }) => expr), ...queries].flatMap((expr) =>
      [
        ...expr.replaceAll(/"[^"]*"/g, '""').matchAll(/\b(?:mq|nodejs|process|signalbox)[_:][a-z0-9_:]*/g),
      ].map(([name]) => name),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
