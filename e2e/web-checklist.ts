// Steps that are checked, one line each.

import type { Page } from 'playwright-core';
import type { World } from './web-world.ts';

export type Checklist = {
  readonly passed: string[];
  readonly failed: string[];
  /** A step that throws, or answers with anything but true or nothing, has failed. */
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
        const answer = await step();
        if (answer === undefined || answer === true) passed.push(name);
        else fail(`${name}: ${JSON.stringify(answer)}`);
      } catch (error) {
        fail(`${name}: ${String(error).slice(0, 600)}`);
      }
    },
  };
}

export type Told = { readonly page: Page; readonly world: World; readonly check: Checklist['check'] };
