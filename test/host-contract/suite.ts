// What every host must do, whichever it is: the same assertions for the sandbox, a real Gitea and a server that speaks
// GitHub's API. They are in the sections; a world (world.ts) says what people and CI can do at the host.

import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { approvalSection } from './approval-section.ts';
import { checkSection } from './check-section.ts';
import { type Contract, openPlace } from './contract.ts';
import { issueSection } from './issue-section.ts';
import { landingSection } from './landing-section.ts';
import { proposalSection } from './proposal-section.ts';
import { pullRequestSection } from './pull-request-section.ts';
import { troubleSection } from './trouble-section.ts';
import { webhookSection } from './webhook-section.ts';
import { wordSection } from './comment-section.ts';
import { capabilities, type Capability, type HostWorld } from './world.ts';

export function describeHostContract(name: string, openWorld: () => Promise<HostWorld>): void {
  describe(`the host contract: ${name}`, () => {
    let world: HostWorld | null = null;
    let assertions = 0;
    const opened = () => {
      if (world === null) throw new Error('the world is not open');
      return world;
    };
    const contract: Contract = {
      world: opened,
      needs: (context, ...wanted) => {
        const missing = wanted.find((capability) => opened().missing[capability] !== undefined);
        if (missing !== undefined) context.skip(`${capabilities[missing]}: ${opened().missing[missing]}`);
      },
      openPlace: () => openPlace(opened()),
    };

    beforeAll(async () => {
      world = await openWorld();
    }, 600_000);
    afterEach(() => {
      assertions += expect.getState().assertionCalls;
    });
    afterAll(async () => {
      const left = Object.entries(world?.missing ?? {});
      const lines = left.map(
        ([capability, why]) => `  not here: ${capabilities[capability as Capability]} (${why})`,
      );
      console.log([`host contract ${name}: ${assertions} assertions`, ...lines].join('\n'));
      await world?.close();
    });

    approvalSection(contract);
    pullRequestSection(contract);
    checkSection(contract);
    landingSection(contract);
    proposalSection(contract);
    wordSection(contract);
    issueSection(contract);
    webhookSection(contract);
    troubleSection(contract);
  });
}
