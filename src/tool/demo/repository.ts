// The repositories of the demo: each has a queue with other settings.

import type { QueueSettings } from '#core/queue/settings.ts';

export type DemoRepository = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
  /** Mean time between two pull requests, in milliseconds at speed 1. */
  readonly everyMs: number;
  /** Parts of its code: a change touches one or two, and each has tests. */
  readonly areas: readonly string[];
  readonly settings: Partial<Omit<QueueSettings, 'protectedPaths'>>;
};

const main = (name: string) => ({
  repo: { host: 'sandbox.example', owner: 'acme', name },
  targetBranch: 'main',
});

/** `--set` changes the first one. */
export const demoRepositories: readonly DemoRepository[] = [
  {
    ...main('shop'),
    everyMs: 3_000,
    areas: ['cart', 'checkout', 'search', 'account', 'payments', 'catalog'],
    settings: {},
  },
  {
    ...main('platform'),
    everyMs: 3_000,
    areas: ['api', 'billing', 'gateway', 'identity', 'mail', 'scheduler', 'storage'],
    settings: { mode: 'parallel', concurrency: 8, canOptimisticallyMerge: true },
  },
  {
    ...main('website'),
    everyMs: 10_000,
    areas: ['blog', 'docs', 'home', 'pricing'],
    settings: { strategy: 'manual', concurrency: 2 },
  },
];
