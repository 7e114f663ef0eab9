// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { beforeEach, expect, it } from 'vitest';
import type { Host } from '#host/host.ts';
import type { ActiveRule } from '#host/rule.ts';
import { storyTeller } from '../support/story.ts';

/** What the host says of the rules of the branch. */
let rules: readonly ActiveRule[] = [];
const asked: Parameters<Host['readRules']>[2][] = [];

const openStory = storyTeller({
  wrapHosts: (hostFor) => (cell, name) => {
    const host = hostFor(cell, name);
    return (
      host && {
        ...host,
        readRules: (_repository, _branch, landing) => {
          asked.push(landing);
          return Promise.resolve(rules);
        },
      }
    );
  },
});

const signatures: ActiveRule = {
  name: 'required_signatures',
  where: 'ruleset “main”',
  handling: 'refused',
  why: 'Signalbox does not sign the commits that it pushes.',
  isBypassed: true,
  isBroken: false,
};

beforeEach(() => {
  rules = [];
  asked.splice(0);
});

it.each([
  ['fast_forward', 'push'],
  ['host', 'merge'],
] as const)('lands nothing by %s past a rule that nobody checks, and names it', async (landingMode, way) => {
  const { team, ci, git, queue, expectMerged } = await openStory({ settings: { landingMode } });
  await team.submit(1, { files: { 'a.txt': 'a' } });
  rules = [signatures];
  await ci.pass(1);
  expect(await git('rev-list', '--count', 'main')).toBe('1');
  expect(await queue()).toMatchObject({
    state: 'PAUSED',
    stateReason: expect.stringMatching(/required_signatures of ruleset “main”.*bypass list/) as string,
  });
  expect(asked.at(-1)).toMatchObject({ way });
  rules = [{ ...signatures, isBypassed: false }];
  await team.configure({ state: 'RUNNING' });
  await expectMerged(1);
});
