// Collects the results of named checks.

import type { Page } from 'playwright-core';
import type { World } from './web-world.ts';

export type Checklist = {
  readonly passed: string[];
  readonly failed: string[];
  /** A step fails if it throws, or returns anything but true or undefined. */
  readonly check: (name: string, step: () => Promise<unknown>) => Promise<void>;
};

export function createChecklist(): Checklist {
  const passed: string[] = [];
  const failed: string[] = [];
  const fail = (problem: string) => {
    failed.push(problem);
    console.error(`failed: ${problem}`);
  };
  return {
    passed,
    failed,
    check: async (name, step) => {
      try {
        const result = await step();
        if (result === undefined || result === true) passed.push(name);
        else fail(`${name}: ${JSON.stringify(result)}`);
      } catch (error) {
        fail(`${name}: ${String(error).slice(0, 600)}`);
      }
    },
  };
}

export type Story = { readonly page: Page; readonly world: World; readonly check: Checklist['check'] };
