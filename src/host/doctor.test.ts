import { describe, expect, it } from 'vitest';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import { diagnose } from './doctor.ts';
import type { DoctorInput } from './doctor-input.ts';
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
      events: ['pull-request-changed', 'check-changed', 'branch-moved', 'comment-written', 'label-changed'],
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
  fixes: {
    writeAccess: 'Give its account write access: Settings → Collaborators.',
    push: 'Allow the account of Signalbox to push.',
    markMerged: 'Settings → Pull requests → allow marking as manually merged.',
  },
  lost: [],
};

const runDoctor = (
  change: Partial<Inspection> = {},
  settings: Partial<QueueSettings> = {},
  lands: DoctorInput['lands'] = 'fast_forward',
  rules: DoctorInput['rules'] = [],
) =>
  diagnose({
    rules,
    isShownAsMerged: true,
    inspection: { ...healthy, ...change },
    queue: { targetBranch: 'main', settings: { ...defaultSettings, ...settings } },
    lands,
    webhookUrls: [webhookUrl],
  });
const faults = (...args: Parameters<typeof runDoctor>) =>
  runDoctor(...args)
    .filter(({ verdict }) => verdict !== 'right')
    .map(({ verdict, what, fix }) => `${verdict}: ${what} → ${fix}`);
const protection = (change: object) => ({ protection: { ...healthy.protection!, ...change } });
const webhook = (change: object) => ({ webhooks: [{ ...healthy.webhooks![0]!, ...change }] });

describe('the doctor', () => {
  it('finds nothing wrong with a repository that is set up well, and says what is right', () => {
    expect(faults()).toEqual([]);
    expect(runDoctor().length).toBeGreaterThanOrEqual(6);
  });

  it.each<[string, Parameters<typeof runDoctor>, RegExp]>([
    ['a repository it cannot see', [{ own: null }], /cannot see the repository.*collaborator/],
    ['an account that may only read', [{ own: 'read' }], /may only read.*write access/],
    ['a branch that is not there', [{ branchExists: false }], /no branch main.*Push it/],
    ['a rule over test branches', [{ testBranchRule: '**' }], /rule \(\*\*\).*Exclude signalbox/],
    ['no webhook', [{ webhooks: [] }], /No webhook.*hooks\/main_1.*secret/],
    ['a webhook to somewhere else', [webhook({ url: 'https://other.example' })], /No webhook/],
    ['a webhook that is off', [webhook({ isActive: false })], /disabled.*Enable/],
    [
      'a webhook without statuses',
      [webhook({ events: ['branch-moved'] })],
      /does not send events about pull requests, statuses/,
    ],
    ['a webhook with another secret', [webhook({ lastStatus: 401 })], /signature.*Replace the secret/],
    ['a webhook that does not arrive', [webhook({ lastStatus: 0 })], /did not reach.*SIGNALBOX_PUBLIC_URL/],
    ['a webhook answered with 502', [webhook({ lastStatus: 502 })], /answered the last delivery with 502/],
    ['no required checks', [{ protection: null }], /names required checks.*\.signalbox\.yaml/],
    [
      'a check that never reported',
      [protection({ requiredChecks: ['ci/tset'] })],
      /“ci\/tset” is required.*reported recently: ci \/ test/,
    ],
    [
      'our own check required',
      [protection({ requiredChecks: ['ci / test', 'Signalbox (main)'] })],
      /own check.*nothing can merge.*Remove it/,
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
      /refuse every second merge.*up to date/,
    ],
    [
      'a merge method that is not allowed',
      [{ mergeMethods: ['rebase'] }, { mergeMethod: 'squash' }, 'host'],
      /merges with mergeMethod squash.*mergeMethod of the queue to rebase/,
    ],
  ])('names %s, with its fix', (_what, args, messages) => {
    expect(faults(...args)).toEqual([expect.stringMatching(messages)]);
  });

  it('says so where it may not look', () => {
    expect(faults({ webhooks: null })).toEqual([expect.stringMatching(/^warning: .*has not checked them/)]);
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
  why: 'Signalbox does not sign the commits that it pushes.',
  isBypassed: false,
  isBroken: false,
  ...change,
});
const messages = (...args: Parameters<typeof runDoctor>) => runDoctor(...args).map(({ what }) => what);

describe('the doctor, on rules', () => {
  it('is not content with one that no one would check', () => {
    expect(faults({}, {}, 'fast_forward', [rule({ isBypassed: true })])).toEqual([
      expect.stringMatching(/^wrong: .*required_signatures of ruleset “main”.*does not sign.*bypass list/),
    ]);
  });

  it('is not content with one that every landing breaks, even if Signalbox may bypass it', () => {
    const linear = rule({ name: 'required_linear_history', isBroken: true, why: 'No merge commits.' });
    for (const lands of ['fast_forward', 'host'] as const)
      expect(faults({}, {}, lands, [linear])).toContainEqual(
        expect.stringMatching(/^wrong: Nothing can merge under required_linear_history/),
      );
  });

  it('warns of one that the host holds our pushes to, and is content where the host merges', () => {
    expect(faults({}, {}, 'fast_forward', [rule({})])).toEqual([
      expect.stringMatching(/^warning: The Git host enforces .* on every push/),
    ]);
    expect(faults({}, {}, 'host', [rule({})])).toEqual([]);
  });
});

describe('the doctor, on what landing guarantees', () => {
  it('says it for a push and for the merge call', () => {
    expect(messages().join('\n')).toMatch(
      /compare-and-swap: through the queue, main only gets tested commits/,
    );
    expect(messages({}, {}, 'host').join('\n')).toMatch(
      /compares the tree with the tested one before and after each/,
    );
    expect(faults({}, {}, 'host')).toEqual([]);
  });

  it('is not content with the merge call while others may update the branch', () => {
    expect(faults({ othersMayUpdate: true }, {}, 'host')).toEqual([
      expect.stringMatching(/^wrong: Other accounts may update main.*Restrict updates/),
    ]);
    expect(faults({ othersMayUpdate: null }, {}, 'host')).toEqual([
      expect.stringMatching(/^warning: The Git host does not show/),
    ]);
    expect(faults({ othersMayUpdate: true })).toEqual([]);
  });

  const checks = rule({ name: 'required_status_checks', handling: 're-implemented' });

  it('is not content where the merge call asks for checks that pull requests do not have', () => {
    const heads = { recentHeadChecks: ['lint'] };
    expect(faults(heads, {}, 'host', [checks])).toEqual([
      expect.stringMatching(/^wrong: The merge call of the Git host requires “ci \/ test” on the head/),
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
    expect(faults({ workflows: [{ path: 'ci.yml', text, sha: '' }] })).toEqual([
      expect.stringMatching(/^warning: ci\.yml .*nothing starts it for test branches/),
    ]);
    expect(faults({ workflowTokenWrites: true, othersMayCreateTestBranches: true })).toEqual([
      expect.stringMatching(/^warning: Workflows get a token with write access.*Restrict creations/),
    ]);
    expect(faults({ workflowTokenWrites: true, othersMayCreateTestBranches: false })).toEqual([]);
  });

  it('says what is lost without an optional permission', () => {
    expect(faults({ lost: ['Without `actions: write` something is lost.'] })).toEqual([
      expect.stringMatching(/^warning: Without `actions: write`/),
    ]);
  });
});
