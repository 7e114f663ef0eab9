import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { defaultSettings, queueSettingTable } from '#core/queue/settings.ts';
import type { Setting } from '#core/setting.ts';
import { bounds } from '../../test/fixture/setting-bounds.ts';
import { endpoints } from './endpoint/endpoint.ts';

const queue = { repo: { host: 'github.com', owner: 'acme', name: 'widgets' }, targetBranch: 'main' };

const parse = (operation: (typeof settingOperations)[number], body: unknown) =>
  (endpoints[operation].request as z.ZodType<Record<string, unknown>>).safeParse(body);
const accepts = (operation: (typeof settingOperations)[number], body: unknown): boolean =>
  parse(operation, body).success;

const choices = {
  mode: ['single', 'parallel'],
  mergeMethod: ['merge_commit', 'squash', 'rebase'],
  landingMode: ['auto', 'fast_forward', 'host'],
  directMergeMode: ['off', 'always'],
  forks: ['refuse', 'approved_head', 'allow'],
  optimizationMode: ['off', 'bisection_skip_redundant_tests'],
} as const;

// prettier-ignore
const switches = [
  'canOptimisticallyMerge', 'batch', 'showAsMerged', 'createPrsForTestingBranches', 'commentsEnabled', 'commandsEnabled',
  'forceEnabled', 'statusCheckEnabled', 'labelCommandsEnabled', 'stateLabelsEnabled', 'extensionEnabled',
] as const;

const texts = ['enqueueingLabel', 'requiredStatuses', 'skippableStatuses', 'protectedPaths'];
const settingOperations = ['createQueue', 'updateQueue'] as const;

/** Which of the values both createQueue and updateQueue take for a setting. */
const takenOf = (name: string, values: readonly unknown[]) =>
  values.filter((value) =>
    settingOperations.every((operation) => accepts(operation, { ...queue, [name]: value })),
  );

/** The values at the edge of what a setting takes, and those just beyond. */
function edges({ takes }: Setting): readonly unknown[] {
  if (takes.kind === 'number') return [takes.min, takes.max];
  if (takes.kind === 'choice') return takes.choices;
  return takes.kind === 'switch' ? [true, false] : [];
}
const beyond = ({ takes }: Setting): readonly unknown[] =>
  takes.kind === 'number' ? [takes.min - 1, takes.max + 1, 'x', null] : [0, 'no such value\n'];

describe('the settings of a queue', () => {
  it('include those that this test names', () => {
    const named = Object.keys({ ...bounds, ...choices });
    expect(Object.keys(defaultSettings)).toEqual(
      expect.arrayContaining([...named, ...switches, ...texts]) as string[],
    );
  });

  it.each(Object.entries<Setting>(queueSettingTable))('hold %s to what its value says', (name, setting) => {
    const taken = [setting.initial, ...edges(setting)];
    expect(takenOf(name, [...taken, ...beyond(setting), {}])).toEqual(taken);
  });

  it.each(Object.entries(bounds))('hold %s to %j', (name, [min, max]) => {
    expect(takenOf(name, [min - 1, min, max, max + 1, min + 0.5, String(min), null])).toEqual([min, max]);
  });

  it.each(Object.entries(choices))('take for %s only %j', (name, values) => {
    expect(takenOf(name, [...values, 'other', '', null, 0])).toEqual([...values]);
  });

  it.each(switches)('take for %s true and false only', (name) => {
    expect(takenOf(name, [true, false, 'true', 1, null])).toEqual([true, false]);
  });

  it('take a label of 1 to 50 characters on one line', () => {
    const labels = ['x', 'x'.repeat(50), 'merge it', '', 'x'.repeat(51), 'a\nb', null];
    expect(takenOf('enqueueingLabel', labels)).toEqual(labels.slice(0, 3));
  });

  it('take null, none, or up to 100 required statuses', () => {
    const statuses = [null, [], ['build'], Array.from({ length: 100 }, (_, i) => `s${i}`)];
    const wrong = [Array.from({ length: 101 }, (_, i) => `s${i}`), [''], [1], 'build', ['a\nb']];
    expect(takenOf('requiredStatuses', [...statuses, ...wrong])).toEqual(statuses);
    expect(takenOf('skippableStatuses', [...statuses, ...wrong])).toEqual(statuses.slice(1));
  });

  it('take up to 100 globs that stay inside the repository as protected paths', () => {
    const globs = [[], ['.github/**'], Array.from({ length: 100 }, (_, i) => `ci/${i}/*.yml`)];
    const wrong = [null, '.github', [''], ['/x'], ['a//b'], ['../x'], ['a/./b'], ['a/'], ['x'.repeat(201)]];
    expect(takenOf('protectedPaths', [...globs, ...wrong])).toEqual(globs);
  });

  it('are all optional, and absent stays absent', () => {
    expect(parse('createQueue', queue).data).toEqual(queue);
    expect(parse('updateQueue', queue).data).toEqual(queue);
  });

  it('take the state of a queue by updateQueue only', () => {
    expect(parse('updateQueue', { ...queue, state: 'DRAINING' }).data).toHaveProperty('state', 'DRAINING');
    expect(parse('createQueue', { ...queue, state: 'DRAINING' }).data).not.toHaveProperty('state');
  });
});
