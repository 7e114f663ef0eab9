// What is deployed by other means than npm, as far as it can be looked at without a machine to deploy to. `npm run
// check:image` and `npm run check:chart` do the rest.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { variables } from '#config/variable.ts';
import { environmentOf, lastOf, parseDockerfile } from '../../script/dockerfile.ts';

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const units = readdirSync('deploy/systemd').filter((name) => name.endsWith('.service'));

describe.skipIf(!hasSystemd)('the units of systemd', () => {
  /** Nothing is installed here: the program is one that is there. */
  const copied = (name: string): string => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const text = readFileSync(join('deploy/systemd', name), 'utf8');
    const file = join(folder, name.replace('@', '@1'));
    writeFileSync(file, text.replaceAll(/^(ExecStart(?:Pre)?)=.*$/gm, '$1=/bin/true'));
    return file;
  };

  it.each(units)('%s is understood', (name) => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', copied(name)], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it.each(units)('%s is open to as little as can be', (name) => {
    const args = ['security', '--offline=true', '--threshold=15', '--no-pager', copied(name)];
    expect(execFileSync('systemd-analyze', args, { encoding: 'utf8' })).toContain('Overall exposure level');
  });
});

describe('the image', () => {
  const stages = parseDockerfile(readFileSync('Dockerfile', 'utf8'));
  const last = stages.at(-1)!;

  it('ends without the tools it was built with, as a user that is not root, and says when it is well', () => {
    expect(lastOf(last, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(lastOf(last, 'HEALTHCHECK')).toContain('/readyz');
    expect(lastOf(last, 'STOPSIGNAL')).toBe('SIGTERM');
    expect(last.steps.some(({ text }) => text.includes('npm ci'))).toBe(false);
  });

  it('sets only variables that there are', () => {
    const own = Object.keys(environmentOf(last)).filter((name) => name.startsWith('SIGNALBOX_'));
    expect(own.filter((name) => !(name in variables))).toEqual([]);
  });
});

it('compose.yaml lets no service of ours write but to its volumes, and gives it no privileges', () => {
  const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as {
    services: Record<string, Record<string, unknown>>;
  };
  for (const name of ['migrate', 'api', 'worker'])
    expect(services[name]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
});

it('the chart names only variables that there are', () => {
  const text = readdirSync('deploy/helm/signalbox/templates')
    .map((name) => readFileSync(join('deploy/helm/signalbox/templates', name), 'utf8'))
    .concat(readFileSync('deploy/helm/signalbox/values.yaml', 'utf8'))
    .concat(readFileSync('deploy/helm/signalbox/values.schema.json', 'utf8'))
    .join('\n');
  const named = [...text.matchAll(/\bSIGNALBOX_[A-Z_]+[A-Z]\b/g)].map(([name]) => name);
  expect(new Set(named).size).toBeGreaterThan(5);
  expect(named.filter((name) => !(name in variables))).toEqual([]);
});

it('the values of the Kubernetes guide are values of the chart', () => {
  const guide = readFileSync('docs/how-to/kubernetes.md', 'utf8');
  const [, values = ''] = /```yaml\n(image:\n[^]*?)```/.exec(guide) ?? [];
  const chart = 'deploy/helm/signalbox';
  const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as object;
  const fits = new Ajv({ allErrors: true, strict: false }).compile(schema);
  // Helm merges what is given into the defaults of the chart, section by section.
  type Sections = Record<string, object>;
  const given = parse(values) as Sections;
  const merged = parse(readFileSync(`${chart}/values.yaml`, 'utf8')) as Sections;
  for (const [section, value] of Object.entries(given)) merged[section] = { ...merged[section], ...value };
  expect(Object.keys(given)).toContain('ingress');
  fits(merged);
  expect(fits.errors).toBeNull();
});
