// What Signalbox does about a rule of a branch. A rule binds pushes and merges of every actor that may not
// bypass it. A host enforces a rule that binds Signalbox. Where Signalbox may bypass a rule, only Signalbox
// itself can enforce it.
//
//   re-implemented  Signalbox checks before a landing what the rule asks for.
//   refused         Signalbox cannot check it. While we may bypass it, nothing lands.
//   harmless        It asks for nothing that a landing could break, or the host enforces it on us in any case.
//
// A rule type that is in no table may ask for anything: it counts as refused.

type RuleHandling = 're-implemented' | 'refused' | 'harmless';

/** A row of a table of rule types. */
export type RuleRow = {
  readonly handling: RuleHandling;
  /** What Signalbox does, or why it need not; one sentence. */
  readonly why: string;
};

export const unknownRule: RuleRow = {
  handling: 'refused',
  why: 'Signalbox does not know this rule, so it cannot check it.',
};

/** A rule that is active for a branch. */
export type ActiveRule = RuleRow & {
  /** As the host names its type, such as `required_signatures`. */
  readonly name: string;
  /** Where it is set, such as `ruleset “main”`. */
  readonly where: string;
  /** Signalbox may bypass it. */
  readonly isBypassed: boolean;
  /** Every landing by the queue's method would break it. */
  readonly isBroken: boolean;
};

/** How a landing reaches the branch. */
export type LandingWay = 'push' | 'merge';

/** Rules that a landing would bypass without a check. */
export const uncheckedRules = (rules: readonly ActiveRule[]): readonly ActiveRule[] =>
  rules.filter(({ handling, isBypassed }) => handling === 'refused' && isBypassed);

/** Why nothing lands, as text for the queue's state; null: no rule is in the way. */
export function uncheckedRulesReason(branch: string, rules: readonly ActiveRule[]): string | null {
  const unchecked = uncheckedRules(rules);
  if (unchecked.length === 0) return null;
  const named = unchecked.map(({ name, where, why }) => `${name} of ${where} (${why})`).join('; ');
  return `${branch} has rules that Signalbox may bypass and cannot check: ${named} Remove the rule, or take Signalbox off its bypass list, or move the rule to a ruleset that Signalbox may not bypass. Then set the queue RUNNING.`;
}
