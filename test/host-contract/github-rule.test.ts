// Which rules of a branch are active for us, asked of the GitHub server.
import { describe, expect, it } from 'vitest';
import { uncheckedRules } from '#host/rule.ts';
import type { Rule } from '../github-server/model.ts';
import { openGithub, widgets } from './github-fixture.ts';

const rule = (type: string, parameters?: Rule['parameters']): Rule =>
  parameters === undefined ? { type } : { type, parameters };

const linear = rule('required_linear_history');
const deployments = rule('required_deployments', { required_deployment_environments: ['staging'] });

async function openRuled(rules: readonly Rule[], bypassMode: 'always' | 'pull_request' | null) {
  const { server, host, repository } = await openGithub();
  server.addRuleset(widgets, {
    name: 'Main',
    rules,
    bypassApps: bypassMode === null ? [] : [server.appId],
    ...(bypassMode === null ? {} : { bypassMode }),
  });
  const unchecked = async (way: 'push' | 'merge', method: 'squash' | 'merge_commit' = 'squash') => {
    const found = await host.readRules(repository, 'main', { method, way });
    return uncheckedRules(found).map(({ name, where }) => `${name} of ${where}`);
  };
  return { server, host, repository, unchecked };
}

describe('the rules of a branch', () => {
  it('that we may bypass and cannot check are named', async () => {
    const { unchecked } = await openRuled([deployments, rule('deletion'), linear], 'always');
    expect(await unchecked('push')).toEqual(['required_deployments of ruleset “Main”']);
    expect(await unchecked('merge')).toEqual(['required_deployments of ruleset “Main”']);
    expect(await unchecked('push', 'merge_commit')).toEqual([
      'required_deployments of ruleset “Main”',
      'required_linear_history of ruleset “Main”',
    ]);
  });

  it('that we may bypass for pull requests only bind what we push', async () => {
    const { unchecked } = await openRuled([deployments], 'pull_request');
    expect(await unchecked('push')).toEqual([]);
    expect(await unchecked('merge')).toEqual(['required_deployments of ruleset “Main”']);
  });

  it('that bind us are left to GitHub', async () => {
    const { unchecked } = await openRuled([deployments, linear], null);
    expect(await unchecked('push', 'merge_commit')).toEqual([]);
  });

  it('that allow other merge methods only are refused', async () => {
    const methods = rule('pull_request', {
      required_approving_review_count: 0,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_review_thread_resolution: false,
      allowed_merge_methods: ['squash'],
    });
    const { unchecked } = await openRuled([methods], 'always');
    expect(await unchecked('push')).toEqual([]);
    expect(await unchecked('push', 'merge_commit')).toEqual(['pull_request of ruleset “Main”']);
  });

  it('of classic protection bind an App, but for conversations on a push', async () => {
    const { server, host, repository } = await openGithub();
    server.protect(widgets, 'main', { signatures: true, conversations: true, linearHistory: true });
    const names = async (way: 'push' | 'merge') =>
      uncheckedRules(await host.readRules(repository, 'main', { method: 'squash', way })).map(
        ({ name }) => name,
      );
    expect(await names('push')).toEqual(['required_conversation_resolution']);
    expect(await names('merge')).toEqual([]);
  });
});
