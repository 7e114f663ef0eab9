import { describe, expect, it } from 'vitest';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import { diagnose, type Patient } from './doctor.ts';
import type { Inspection } from './host.ts';
import type { ActiveRule } from './rule.ts';

const webhookUrl = 'https://signalbox.example/hooks/main_1';
const healthy: Inspection = {
  version: 'Gitea 1.26.0',
  own: 'admin',
  webhooks: [
    {
      url: webhookUrl,
      isActive: true,
      tells: ['pull-request-changed', 'check-changed', 'branch-moved', 'comment-written', 'label-changed'],
      lastStatus: 200,
    },
  ],
  branchExists: true,
  protection: {
    requiredChecks: ['ci / test'],
    letsUsPush: true,
    letsUsMerge: true,
    needsUpToDate: false,
    approvals: 0,
  },
  testBranchRule: null,
  mergeMethods: ['squash', 'merge_commit', 'rebase'],
  marksMerged: true,
  recentChecks: ['ci / test', 'lint'],
  recentHeadChecks: ['ci / test', 'lint'],
  othersMayUpdate: false,
  othersMayCreateTestBranches: false,
  workflows: [],
  workflowTokenWrites: null,
  lost: [],
};

const look = (
  change: Partial<Inspection> = {},
  settings: Partial<QueueSettings> = {},
  lands: Patient['lands'] = 'fast_forward',
  rules: Patient['rules'] = [],
) =>
  diagnose({
    rules,
    isShownAsMerged: true,
    inspection: { ...healthy, ...change },
    queue: { targetBranch: 'main', settings: { ...defaultSettings, ...settings } },
    lands,
    webhookUrl,
  });
const faults = (...args: Parameters<typeof look>) =>
  look(...args)
    .filter(({ verdict }) => verdict !== 'right')
    .map(({ verdict, what, fix }) => `${verdict}: ${what} → ${fix}`);
const protection = (change: object) => ({ protection: { ...healthy.protection!, ...change } });
const webhook = (change: object) => ({ webhooks: [{ ...healthy.webhooks![0]!, ...change }] });

describe('the doctor', () => {
  it('finds nothing wrong with a repository that is set up well, and says what is right', () => {
    expect(faults()).toEqual([]);
    expect(look().length).toBeGreaterThanOrEqual(6);
  });

  it.each<[string, Parameters<typeof look>, RegExp]>([
    ['a repository it cannot see', [{ own: null }], /cannot see the repository.*collaborator/],
    ['an account that may only read', [{ own: 'read' }], /may only read.*write access/],
    ['a branch that is not there', [{ branchExists: false }], /no branch main.*Push it/],
    ['a rule over test branches', [{ testBranchRule: '**' }], /rule \(\*\*\).*Exclude signalbox/],
    ['no webhook', [{ webhooks: [] }], /No webhook.*hooks\/main_1.*secret/],
    ['a webhook to somewhere else', [webhook({ url: 'https://other.example' })], /No webhook/],
    ['a webhook that is off', [webhook({ isActive: false })], /switched off.*Activate/],
    [
      'a webhook without statuses',
      [webhook({ tells: ['branch-moved'] })],
      /does not tell of pull requests, statuses/,
    ],
    ['a webhook with another secret', [webhook({ lastStatus: 401 })], /signature.*Set the secret/],
    ['a webhook that does not arrive', [webhook({ lastStatus: 0 })], /did not reach.*SIGNALBOX_PUBLIC_URL/],
    ['a webhook answered with 502', [webhook({ lastStatus: 502 })], /answered with 502/],
    ['no required checks', [{ protection: null }], /Nothing outside.*\.signalbox\.yaml/],
    [
      'a check that never reported',
      [protection({ requiredChecks: ['ci/tset'] })],
      /“ci\/tset” is required.*lately reported: ci \/ test/,
    ],
    [
      'our own check required',
      [protection({ requiredChecks: ['ci / test', 'Signalbox (main)'] })],
      /own check.*nothing can land.*Take it off/,
    ],
    [
      'a branch we may not push to',
      [protection({ letsUsPush: false })],
      /does not let Signalbox push.*landingMode/,
    ],
    [
      'a host that marks nothing as merged',
      [{ marksMerged: false }],
      /shown as open or closed.*manually merged/,
    ],
    [
      'a branch we may not merge to',
      [protection({ letsUsMerge: false }), {}, 'host'],
      /does not let Signalbox merge/,
    ],
    [
      '"require up to date"',
      [protection({ needsUpToDate: true }), {}, 'host'],
      /refuse every second landing.*up to date/,
    ],
    [
      'a merge method that is not allowed',
      [{ mergeMethods: ['rebase'] }, { mergeMethod: 'squash' }, 'host'],
      /lands by squash.*mergeMethod of the queue to rebase/,
    ],
  ])('names %s, with its fix', (_what, args, words) => {
    expect(faults(...args)).toEqual([expect.stringMatching(words)]);
  });

  it('says so where it may not look', () => {
    expect(faults({ webhooks: null })).toEqual([expect.stringMatching(/^warning: .*not checked/)]);
  });

  it('takes the queue’s own list of checks before the protection’s', () => {
    expect(faults(protection({ requiredChecks: ['gone'] }), { requiredStatuses: ['lint'] })).toEqual([]);
  });

  it('does not mind “up to date” where the queue pushes', () => {
    expect(faults(protection({ needsUpToDate: true }))).toEqual([]);
  });
});

const rule = (change: Partial<ActiveRule>): ActiveRule => ({
  name: 'required_signatures',
  where: 'ruleset “main”',
  handling: 'refused',
  why: 'Commits that Signalbox pushes are not signed.',
  isBypassed: false,
  isBroken: false,
  ...change,
});
const words = (...args: Parameters<typeof look>) => look(...args).map(({ what }) => what);

describe('the doctor, on rules', () => {
  it('is not content with one that nobody would check', () => {
    expect(faults({}, {}, 'fast_forward', [rule({ isBypassed: true })])).toEqual([
      expect.stringMatching(/^wrong: .*required_signatures of ruleset “main”.*not signed.*bypass list/),
    ]);
  });

  it('is not content with one that every landing breaks, whoever may bypass it', () => {
    const linear = rule({ name: 'required_linear_history', isBroken: true, why: 'No merge commits.' });
    for (const lands of ['fast_forward', 'host'] as const)
      expect(faults({}, {}, lands, [linear])).toContainEqual(
        expect.stringMatching(/^wrong: Nothing can land under required_linear_history/),
      );
  });

  it('warns of one that the host holds our pushes to, and is content where the host merges', () => {
    expect(faults({}, {}, 'fast_forward', [rule({})])).toEqual([
      expect.stringMatching(/^warning: The host holds every push/),
    ]);
    expect(faults({}, {}, 'host', [rule({})])).toEqual([]);
  });
});

describe('the doctor, on what landing guarantees', () => {
  it('says it for a push and for the merge call', () => {
    expect(words().join('\n')).toMatch(/compare-and-swap: main never gets anything that was not tested/);
    expect(words({}, {}, 'host').join('\n')).toMatch(/compared with the tested one before and after each/);
    expect(faults({}, {}, 'host')).toEqual([]);
  });

  it('is not content with the merge call while others may update the branch', () => {
    expect(faults({ othersMayUpdate: true }, {}, 'host')).toEqual([
      expect.stringMatching(/^wrong: Others than Signalbox may update main.*Restrict updates/),
    ]);
    expect(faults({ othersMayUpdate: null }, {}, 'host')).toEqual([
      expect.stringMatching(/^warning: The host does not show/),
    ]);
    expect(faults({ othersMayUpdate: true })).toEqual([]);
  });

  const checks = rule({ name: 'required_status_checks', handling: 're-implemented' });

  it('is not content where the merge call asks for checks that pull requests do not have', () => {
    const heads = { recentHeadChecks: ['lint'] };
    expect(faults(heads, {}, 'host', [checks])).toEqual([
      expect.stringMatching(/^wrong: The merge call of the host asks for “ci \/ test” on the head/),
    ]);
    expect(faults(heads, {}, 'host', [{ ...checks, isBypassed: true }])).toEqual([]);
  });

  it('is not content where the protection requires more than the queue waits for', () => {
    expect(faults({}, { requiredStatuses: ['lint'] }, 'fast_forward', [checks])).toEqual([
      expect.stringMatching(
        /^wrong: The protection of main requires “ci \/ test”, and the queue does not wait/,
      ),
    ]);
  });
});

describe('the doctor, on CI', () => {
  it('warns of workflows that are skipped, and of a token that may write', () => {
    const text = 'on:\n  push:\n    branches: [main]\njobs:\n  test: { steps: [] }\n';
    expect(faults({ workflows: [{ path: 'ci.yml', text }] })).toEqual([
      expect.stringMatching(/^warning: ci\.yml .*nothing starts it for test branches/),
    ]);
    expect(faults({ workflowTokenWrites: true, othersMayCreateTestBranches: true })).toEqual([
      expect.stringMatching(/^warning: Workflows get a token that may write.*Restrict creations/),
    ]);
    expect(faults({ workflowTokenWrites: true, othersMayCreateTestBranches: false })).toEqual([]);
  });

  it('says what is lost without an optional permission', () => {
    expect(faults({ lost: ['Without `actions: write` something is lost.'] })).toEqual([
      expect.stringMatching(/^warning: Without `actions: write`/),
    ]);
  });
});
