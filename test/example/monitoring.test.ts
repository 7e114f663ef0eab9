// The rules and the dashboard that people copy, by the real promtool, and against what the service really serves.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { freePort } from '../../script/free-port.ts';
import { main, openWorldForTest, pr } from '../support/harness.ts';

const folder = 'examples/prometheus';

type Rule = {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: object;
};
type Rules = { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
type Scrape = { readonly metrics_path?: string };
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
    const file = fileWith('prometheus.yml', { ...rest, rule_files: [], scrape_configs: scrapes });
    expect(promtool('check', 'config', '--syntax-only', file)).toMatchObject({ status: 0 });
    expect(scrapes.find((scrape) => scrape.metrics_path !== undefined)).toMatchObject({
      metrics_path: '/v1/getMergeQueueMetrics',
      authorization: { credentials_file: '/etc/prometheus/signalbox-token' },
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

it('a real Prometheus scrapes the queues once, though it finds several pods, as the chart has it', async () => {
  const world = await openWorldForTest();
  const admin = await world.client();
  await admin.call('createQueue', main);
  const { value } = await admin.call('createToken', { name: 'prometheus', scopes: ['read'] });
  const own = new URL(await world.server.listen({ host: '127.0.0.1', port: 0 })).host;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-prometheus-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${value}\n`);
  const pods = ['1', '2'].map((pod) => ({ targets: [`127.0.0.${pod}:9`], labels: { pod } }));
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [
      {
        job_name: 'queues',
        metrics_path: '/v1/getMergeQueueMetrics',
        authorization: { credentials_file: tokenFile },
        static_configs: pods,
        relabel_configs: [
          { target_label: '__address__', replacement: own },
          { target_label: 'job', replacement: 'signalbox-queues' },
          { regex: 'pod|container|node', action: 'labeldrop' },
        ],
      },
    ],
  };
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
  const port = await freePort();
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  onTestFinished(async () => {
    prometheus.kill();
    await once(prometheus, 'exit');
    rmSync(folder, { recursive: true });
  });
  const query = async (text: string): Promise<unknown> => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(text)}`;
    const { data } = (await (await fetch(url)).json()) as {
      data: { result: readonly { value: unknown[] }[] };
    };
    return data.result.map(({ value: [, number] }) => Number(number));
  };
  await expect
    .poll(() => query('count(mq_depth_current{queue_type="main"})').catch(String), { timeout: 30_000 })
    .toEqual([1]);
  expect(await query('count(up{job="signalbox-queues"} == 1)')).toEqual([1]);
});
