// The rules of a branch as a real Gitea tells them: none may be one that Signalbox does not know.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uncheckedRules } from '#host/rule.ts';
import { openPlace } from './contract.ts';
import { createGiteaWorld, type GiteaWorld } from './gitea-world.ts';

describe('Gitea', () => {
  let world: GiteaWorld;
  beforeAll(async () => {
    world = await createGiteaWorld();
  }, 600_000);
  afterAll(() => world?.close());

  it('tells its protection field by field, and Signalbox knows every field', async () => {
    const { host, repository } = await openPlace(world);
    const read = (way: 'push' | 'merge') => host.readRules(repository, 'main', { method: 'squash', way });
    expect(await read('push')).toEqual([]);
    const { owner, name } = repository;
    await world.gitea.call(
      world.people.get(world.author)!.token,
      'POST',
      `/repos/${owner}/${name}/branch_protections`,
      {
        rule_name: 'main',
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: [world.author],
        enable_force_push: true,
        enable_force_push_allowlist: true,
        enable_merge_whitelist: true,
        merge_whitelist_usernames: [world.author],
        enable_status_check: true,
        status_check_contexts: ['ci/test'],
        required_approvals: 1,
        enable_approvals_whitelist: true,
        approvals_whitelist_username: [world.author],
        block_on_rejected_reviews: true,
        block_on_official_review_requests: true,
        block_on_outdated_branch: true,
        dismiss_stale_approvals: true,
        ignore_stale_approvals: true,
        require_signed_commits: true,
        protected_file_patterns: '*.lock',
        unprotected_file_patterns: '*.md',
        block_admin_merge_override: true,
      },
    );
    const rules = await read('push');
    expect(rules.length).toBeGreaterThan(12);
    expect(uncheckedRules(rules)).toEqual([]);
    expect(rules.find(({ name: field }) => field === 'required_approvals')).toMatchObject({
      handling: 're-implemented',
      where: 'branch protection “main”',
      isBypassed: true,
    });
  });
});
