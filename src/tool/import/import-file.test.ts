import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { queueSettingDefaults, queueSettings } from '#contract/queue-settings.ts';
import { readOtherQueue } from './import-file.ts';
import { showImported } from './import-view.ts';
import { settingsIn } from '#cli/queue/queue-setting.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'signalbox-import-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const read = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(cwd, name), content);
  return readOtherQueue(cwd, name, null);
};

const laughs = `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefgh'
  .split('')
  .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]}, `.repeat(9)}]`)
  .join('\n')}`;

it.each([
  ['queue', 'x', 'Use --from'],
  ['bors.toml', 'status = [', 'is not valid'],
  ['bors.toml', new Uint8Array([0xff, 0xfe, 0, 1]), 'is not valid'],
  ['mergify.yml', 'queue_rules: [', 'is not valid'],
  ['mergify.yml', 'just text', 'contains no keys'],
  ['mergify.yml', '', 'contains no keys'],
  ['mergify.yml', 'queue_rules: &a [*a]', 'is not valid'],
  ['mergify.yml', laughs, 'is not valid'],
  ['mergify.yml', `a: ${'['.repeat(5_000)}`, 'is not valid'],
  ['ruleset.json', '7', 'contains no ruleset'],
  ['ruleset.json', '{', 'is not valid'],
  ['bors.toml', `# ${'x'.repeat(300 * 1024)}`, 'larger than 256 KiB'],
])('explains what is wrong with %s', async (name, content, message) => {
  await expect(read(name, content)).rejects.toThrow(message);
});

it('says so where there is no file', async () => {
  await expect(readOtherQueue(cwd, 'bors.toml', null)).rejects.toThrow('could not be read');
});

function shown(queue: Awaited<ReturnType<typeof read>>, isJson: boolean): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const repo = { host: 'github.com', owner: 'acme', name: 'widgets' };
  showImported(queue, { branch: 'main', repo, isJson });
  const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
  write.mockRestore();
  return text;
}

it('shows what stands in a file as text, and quotes it for the shell', async () => {
  const queue = await read(
    'mergify.yml',
    `queue_rules:\n  - { name: "a\\e[2J", queue_conditions: ["base=$(reboot)'\\e[2J", "check-success=a: \\"b\\""] }\n`,
  );
  const text = shown(queue, false);
  expect(text).toContain(`--branch '$(reboot)'\\''\\u001b[2J'`);
  expect(text).toContain(`- 'a: "b"'`);
  // oxlint-disable-next-line no-control-regex -- this is what must not be there
  expect(text).not.toMatch(/\u001b/);
});

it('gives a program settings that the service takes', async () => {
  const queue = await read(
    'mergify.yml',
    'queue_rules:\n  - { name: a, batch_size: 5000, batch_max_wait_time: 30 days, speculative_checks: 0, queue_conditions: [base=a, check-success=x] }\n' +
      '  - { name: b, batch_size: 1, queue_conditions: [base=b, check-success=y] }\n',
  );
  const { queues, commands, requiredStatuses } = JSON.parse(shown(queue, true)) as {
    queues: readonly { settings: Record<string, unknown> }[];
    commands: readonly string[];
    requiredStatuses: unknown;
  };
  for (const { settings } of queues)
    for (const [name, value] of Object.entries(settings))
      expect(queueSettings[name as keyof typeof queueSettings].parse(value)).toEqual(value);
  expect(requiredStatuses).toBeNull();
  expect(commands).toEqual([
    'signalbox queue create --repo github.com/acme/widgets --branch a batch=true batchingMinSize=1000 batchingMaxWaitTimeMinutes=10080 concurrency=1 requiredStatuses=x',
    'signalbox queue create --repo github.com/acme/widgets --branch b batch=false requiredStatuses=y',
  ]);
});

it.each(['bors.toml', 'mergify.yml', 'github-ruleset.json'])(
  'prints a command for %s that makes the queue that was read',
  async (name) => {
    const queue = await readOtherQueue('examples/import', name, null);
    const { queues, commands } = JSON.parse(shown(queue, true)) as {
      queues: readonly { settings: Record<string, unknown> }[];
      commands: readonly string[];
    };
    const pairs = commands[0]!.split(' --branch main ')[1]!.split(' ');
    expect({ ...queueSettingDefaults, ...settingsIn(pairs) }).toEqual({
      ...queueSettingDefaults,
      ...queues[0]!.settings,
    });
  },
);
