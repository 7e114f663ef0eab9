import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { uncheckedRules, uncheckedRulesReason } from '../../rule.ts';
import { ofProtection } from './active-rule.ts';
import { protectionFields, findRuleRow, ruleTypes } from './rule-type.ts';

type Schemas = Readonly<
  Record<
    string,
    {
      readonly oneOf?: readonly { readonly $ref: string }[];
      readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
    }
  >
>;

const require = createRequire(import.meta.url);

/** GitHub's own description of its API, as the GitHub server of the tests uses it. */
const schemasOf = (edition: string): Schemas =>
  (
    JSON.parse(readFileSync(require.resolve(`@octokit/openapi/generated/${edition}.json`), 'utf8')) as {
      readonly components: { readonly schemas: Schemas };
    }
  ).components.schemas;

describe('the table of rule types', () => {
  it.each(['api.github.com', 'ghes-3.19'])('has every rule type and protection field of %s', (edition) => {
    const schemas = schemasOf(edition);
    const types = Object.entries(schemas)
      .filter(([name]) => name.startsWith('repository-rule-'))
      .flatMap(([, schema]) => {
        const values = schema.properties?.['type']?.enum ?? [];
        return values.length === 1 && schema.properties?.['type'] !== undefined ? values : [];
      })
      // The parts of rules have types of their own, in capitals.
      .filter((type) => type === type.toLowerCase());
    expect(types.length).toBeGreaterThan(15);
    expect(types.filter((type) => !Object.hasOwn(ruleTypes, type))).toEqual([]);
    const fields = Object.keys(schemas['protected-branch']!.properties!).filter((name) => name !== 'url');
    expect(fields.length).toBeGreaterThan(8);
    expect(fields.filter((name) => !Object.hasOwn(protectionFields, name))).toEqual([]);
  });

  it('refuses what it does not know', () => {
    expect(findRuleRow('moon_phase')).toMatchObject({ handling: 'refused' });
    expect(findRuleRow('constructor')).toMatchObject({ handling: 'refused' });
  });
});

describe('a rule that Signalbox does not check', () => {
  const rule = { where: 'ruleset “main”', isBroken: false };

  it('is one that we may bypass and do not re-implement', () => {
    const all = Object.entries(ruleTypes).map(([name, row]) => ({ ...row, ...rule, name }));
    const bypassed = uncheckedRules(all.map((one) => ({ ...one, isBypassed: true }))).map(({ name }) => name);
    expect(bypassed).toEqual([
      'code_scanning',
      'commit_author_email_pattern',
      'commit_message_pattern',
      'committer_email_pattern',
      'file_extension_restriction',
      'file_path_restriction',
      'license_compliance_scanning',
      'max_file_path_length',
      'max_file_size',
      'merge_queue',
      'required_deployments',
      'required_signatures',
      'workflows',
    ]);
    expect(uncheckedRules(all.map((one) => ({ ...one, isBypassed: false })))).toEqual([]);
  });

  it('is named in the reason of the queue, with what to do', () => {
    const signatures = { ...findRuleRow('required_signatures'), ...rule, name: 'required_signatures' };
    expect(uncheckedRulesReason('main', [{ ...signatures, isBypassed: true }])).toMatch(
      /required_signatures of ruleset “main” .*does not sign.*bypass list.*RUNNING/,
    );
    expect(uncheckedRulesReason('main', [{ ...signatures, isBypassed: false }])).toBeNull();
  });
});

describe('classic protection', () => {
  const protection = {
    required_signatures: { enabled: true },
    required_linear_history: { enabled: true },
    enforce_admins: { enabled: false },
  };

  it('binds an App to all of it, and an administrator to none unless it says so', () => {
    const unchecked = (own: 'write' | 'admin', method: 'squash' | 'merge_commit') =>
      uncheckedRules(ofProtection(protection, { own }, { method, way: 'push' })).map(({ name }) => name);
    expect(unchecked('write', 'merge_commit')).toEqual([]);
    expect(unchecked('admin', 'squash')).toEqual(['required_signatures']);
    expect(unchecked('admin', 'merge_commit')).toEqual(['required_linear_history', 'required_signatures']);
  });
});
