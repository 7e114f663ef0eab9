// docs/reference/rules.md: every rule type of the Git hosts, and what Signalbox does about it.
import { protectionFields as giteaFields } from '#host/gitea/rule/rule-type.ts';
import { protectionFields, ruleTypes } from '#host/github/rule/rule-type.ts';
import type { RuleRow } from '#host/rule.ts';
import { table } from './table.ts';

const rows = (rules: Readonly<Record<string, RuleRow>>): string =>
  table(
    ['rule', 'Signalbox', 'why'],
    Object.entries(rules)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { handling, why }]) => [`\`${name}\``, handling, why]),
  );

export const rulesPage = (): string => `# Rules of branches

A Git host enforces the rules of a branch on everybody who may not bypass them. If Signalbox may bypass a rule, only
Signalbox itself makes sure that a landing follows it. Landing by pushing needs such a bypass for the rule that requires a
pull request. Each rule is handled in one of three ways:

- **re-implemented**: Signalbox checks before each landing what the rule asks for.
- **refused**: Signalbox cannot check it. While the rule is active and Signalbox may bypass it, nothing lands: the queue
  is paused, and its reason names the rule. If Signalbox may not bypass it, the host holds the landing to it.
- **harmless**: a landing cannot break it, or the host enforces it on Signalbox in any case.

A rule that is in no table here, because the host got it later, counts as refused. \`signalbox doctor\` names the rules of a
branch that are refused.

## GitHub: rulesets

A landing by \`merge_commit\` under \`required_linear_history\`, by a method that \`pull_request\` does not allow, or under
required reviewers of \`pull_request\`, is refused too.

${rows(ruleTypes)}

## GitHub: classic branch protection

A GitHub App cannot bypass classic protection, except for the pull request that it asks for.

${rows(protectionFields)}

## Gitea and Forgejo: branch protection

If an account may push, Gitea checks its pushes for signatures and protected files, and does not check reviews and required
checks.

${rows(giteaFields)}
`;
