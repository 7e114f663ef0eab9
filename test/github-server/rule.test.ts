// Every type of rule, on a push and on the merge call; who may bypass it is bound by none.
import { describe, expect, it } from 'vitest';
import { installed, openGithubServer, refusalOf } from './for-test.ts';
import { cloneOf, remoteOf } from './git-client.ts';
import type { Rule } from './model.ts';
import type { GithubServer } from './server.ts';

const widgets = { owner: 'acme', repo: 'widgets' };
const name = 'acme/widgets';
const merge = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

async function openWidgets(files: Readonly<Record<string, string>> = { 'x.txt': 'x' }) {
  const github = await openGithubServer();
  github.newUser('ada');
  github.newUser('grace');
  github.newUser('mallory');
  const access = { ada: 'write', grace: 'write', mallory: 'read' } as const;
  await github.newRepository(name, { access });
  const { number, headSha } = await github.openPullRequest(name, { branch: 'x', files, by: 'ada' });
  const tryMerge = (method: 'merge' | 'squash' | 'rebase' = 'squash') =>
    installed(github).request(merge, { ...widgets, pull_number: number, merge_method: method });
  const refusal = async (method: 'merge' | 'squash' | 'rebase' = 'squash') =>
    (await refusalOf(tryMerge(method))).message;
  return { github, number, headSha, tryMerge, refusal };
}

async function installationToken(github: GithubServer): Promise<string> {
  const { token } = (await installed(github).auth({ type: 'installation' })) as { readonly token: string };
  return token;
}

const long = 'a'.repeat(40);
const files = {
  'x.txt': 'x',
  'secret/key.pem': 'key',
  [`${long}.txt`]: 'x',
  'big.bin': 'x'.repeat(1_100_000),
};

const pattern = (type: string): Rule => ({
  type,
  parameters: { operator: 'starts_with', pattern: 'must-begin-so', negate: false },
});

/** Each with what a push of a change, and the merge of it, are told. */
const cases: readonly (readonly [Rule, string])[] = [
  [{ type: 'update' }, "You're not authorized to push to this branch."],
  [{ type: 'merge_queue', parameters: {} }, 'Changes must be made through the merge queue'],
  [{ type: 'required_signatures' }, 'Commits must have verified signatures.'],
  [pattern('commit_message_pattern'), 'Commit message must match a given pattern: must-begin-so'],
  [pattern('commit_author_email_pattern'), 'Commit author email must match a given pattern: must-begin-so'],
  [pattern('committer_email_pattern'), 'Committer email must match a given pattern: must-begin-so'],
  [
    { type: 'file_path_restriction', parameters: { restricted_file_paths: ['secret/**'] } },
    'File path is restricted: secret/key.pem',
  ],
  [{ type: 'max_file_path_length', parameters: { max_file_path_length: 30 } }, 'File path is too long:'],
  [
    { type: 'file_extension_restriction', parameters: { restricted_file_extensions: ['*.pem'] } },
    'File extension is restricted: secret/key.pem',
  ],
  [{ type: 'max_file_size', parameters: { max_file_size: 1 } }, 'File is too large: big.bin'],
  [
    {
      type: 'required_deployments',
      parameters: { required_deployment_environments: ['staging'] },
    },
    'Required deployments have not succeeded.',
  ],
  [
    { type: 'workflows', parameters: { workflows: [{ repository_id: 1, path: 'w.yml' }] } },
    'Required workflows have not succeeded.',
  ],
  [
    {
      type: 'code_scanning',
      parameters: {
        code_scanning_tools: [
          { tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'high_or_higher' },
        ],
      },
    },
    'Waiting for Code Scanning results.',
  ],
  [{ type: 'license_compliance_scanning' }, 'Waiting for license compliance results.'],
];

describe('a ruleset', () => {
  it.each(cases.map(([rule, words]) => [rule.type, rule, words] as const))(
    'with %s binds a push and the merge call, and whoever may bypass it passes',
    async (_, rule, words) => {
      const { github, headSha, tryMerge, refusal } = await openWidgets(files);
      const id = github.addRuleset(name, { rules: [rule] });
      // Rebased commits are made by GitHub without its signature.
      expect(await refusal('rebase')).toContain(words);
      const clone = await cloneOf(github, name, await installationToken(github));
      await clone.git('fetch', '--quiet', 'origin', 'x');
      expect(await clone.refusal('push', 'origin', 'FETCH_HEAD:main')).toContain(words);
      github.removeRuleset(name, id);
      github.addRuleset(name, { rules: [rule], bypassApps: [github.appId], bypassMode: 'pull_request' });
      expect(await clone.refusal('push', 'origin', 'FETCH_HEAD:main')).toContain(words);
      expect(headSha).toMatch(/^[0-9a-f]{40}$/);
      expect((await tryMerge('rebase')).data.merged).toBe(true);
    },
  );

  it('with facts about commits is met when they are there', async () => {
    const { github, headSha, tryMerge } = await openWidgets();
    const rules = cases.map(([rule]) => rule).filter(({ type }) => /deploy|workflows|scanning/.test(type));
    github.addRuleset(name, { rules });
    for (const fact of [
      'deployment staging',
      'workflow w.yml',
      'code scanning CodeQL',
      'license compliance',
    ] as const)
      github.meet(name, headSha, fact);
    expect((await tryMerge()).data.merged).toBe(true);
  });

  it('with signatures takes what GitHub signs itself, if the commits of the pull request are signed or squashed', async () => {
    const { github, tryMerge, refusal } = await openWidgets();
    github.addRuleset(name, { rules: [{ type: 'required_signatures' }] });
    expect(await refusal('merge')).toContain('Commits must have verified signatures.');
    expect((await tryMerge('squash')).data.merged).toBe(true);
  });

  it('with linear history takes no merge commit, and with merge methods only those', async () => {
    const { github, refusal, tryMerge } = await openWidgets();
    github.addRuleset(name, { rules: [{ type: 'required_linear_history' }] });
    expect(await refusal('merge')).toContain('This branch must not contain merge commits.');
    const parameters = { required_approving_review_count: 0, allowed_merge_methods: ['rebase'] };
    github.addRuleset(name, { rules: [{ type: 'pull_request', parameters }] });
    expect(await refusal('squash')).toContain('The squash method is not allowed.');
    expect((await tryMerge('rebase')).data.merged).toBe(true);
  });

  it('that only asks for a review by Copilot, or is about tags, binds nobody', async () => {
    const { github, tryMerge } = await openWidgets();
    github.addRuleset(name, {
      rules: [{ type: 'copilot_code_review', parameters: {} }, pattern('tag_name_pattern')],
    });
    expect((await tryMerge()).data.merged).toBe(true);
  });
});

const reviewed = (more: Readonly<Record<string, unknown>>): Rule => ({
  type: 'pull_request',
  parameters: { required_approving_review_count: 1, ...more },
});

describe('required reviews', () => {
  it('count from people with write access, and not from the author', async () => {
    const { github, number, refusal, tryMerge } = await openWidgets();
    github.addRuleset(name, { rules: [reviewed({})] });
    github.approve(name, number, 'mallory');
    github.approve(name, number, 'ada');
    expect(await refusal()).toContain('At least 1 approving review is required');
    github.approve(name, number, 'grace');
    expect((await tryMerge()).data.merged).toBe(true);
  });

  it('are dismissed by a push where the rule says so', async () => {
    const { github, number, refusal } = await openWidgets();
    github.addRuleset(name, { rules: [reviewed({ dismiss_stale_reviews_on_push: true })] });
    github.approve(name, number, 'grace');
    await github.commit(name, { branch: 'x', files: { 'x.txt': '2' }, by: 'ada' });
    expect(await refusal()).toContain('At least 1 approving review is required');
    expect(github.pullRequest(name, number).reviews).toMatchObject([{ state: 'dismissed' }]);
  });

  it('of the last push are by another person, where the rule says so', async () => {
    const { github, number, refusal, tryMerge } = await openWidgets();
    github.addRuleset(name, { rules: [reviewed({ require_last_push_approval: true })] });
    github.approve(name, number, 'grace');
    await github.commit(name, { branch: 'x', files: { 'x.txt': '2' }, by: 'ada' });
    expect(await refusal()).toContain('approval from someone other than the last pusher');
    github.approve(name, number, 'grace');
    expect((await tryMerge()).data.merged).toBe(true);
  });

  it('are by an owner of what is changed, where the rule says so', async () => {
    const { github, number, refusal, tryMerge } = await openWidgets({ 'docs/x.md': 'x' });
    github.newUser('linus');
    github.setAccess(name, 'linus', 'write');
    await github.commit(name, { files: { '.github/CODEOWNERS': '* @ada\n/docs/ @linus\n' } });
    github.addRuleset(name, { rules: [reviewed({ require_code_owner_review: true })] });
    github.approve(name, number, 'grace');
    expect(await refusal()).toContain('Waiting on code owner review from linus.');
    github.approve(name, number, 'linus');
    expect((await tryMerge()).data.merged).toBe(true);
  });

  it.each(['ruleset', 'protection'])('with conversations wait for them to be resolved (%s)', async (kind) => {
    const { github, number, refusal, tryMerge } = await openWidgets();
    if (kind === 'ruleset')
      github.addRuleset(name, { rules: [reviewed({ required_review_thread_resolution: true })] });
    else github.protect(name, 'main', { conversations: true });
    github.approve(name, number, 'grace');
    const thread = github.startThread(name, number, 'grace');
    expect(await refusal()).toContain('A conversation must be resolved');
    github.resolveThread(name, number, thread, 'grace');
    expect((await tryMerge()).data.merged).toBe(true);
  });
});

describe('classic protection', () => {
  it('with signatures binds a push', async () => {
    const { github } = await openWidgets();
    github.protect(name, 'main', { signatures: true });
    const clone = await cloneOf(github, name, await installationToken(github));
    await clone.commit('y.txt', 'y');
    expect(await clone.refusal('push', 'origin', 'main')).toContain('Commits must have verified signatures.');
    expect(await clone.refusal('push', 'origin', 'main')).toContain('GH006');
  });

  it('may keep others from making matching branches', async () => {
    const { github } = await openWidgets();
    github.protect(name, 'release/*', { pushers: ['ada'], blockCreations: true });
    const clone = await cloneOf(github, name, await installationToken(github));
    expect(
      await clone.refusal('push', remoteOf(github, name, await installationToken(github)), 'main:release/1'),
    ).toContain('Cannot create ref due to creations being restricted.');
  });
});
