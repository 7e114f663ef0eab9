// The conditions of Mergify. A few of them become settings of a queue: the branch, the checks, the label that
// submits. Others hold here in any case, or are for the Git host to require. The rest have no counterpart,
// and are reported one by one.
//
//   check-success=unit        a required check
//   base=main                 the branch of the queue
//   label=ready               the label that submits, if the rule is one that queues

import { atHost, isRecord, mapped, type Read, unknown, unmapped } from './finding.ts';

export type Conditions = {
  /** Checks that must have succeeded. */
  readonly checks: readonly string[];
  readonly branches: readonly string[];
  readonly labels: readonly string[];
  readonly reads: readonly Read[];
};

const nothing: Conditions = { checks: [], branches: [], labels: [], reads: [] };

const depthMax = 20;

/** `role`: the meaning of a label here. */
export function readConditions(value: unknown, at: string, role: 'queues' | 'merges'): Conditions {
  if (value === true) return nothing;
  if (!Array.isArray(value)) return reportOnly(unknown(at, value, 'The value is not a list of conditions.'));
  return together(value.map((condition, index) => readOne(condition, `${at}[${index}]`, role, 0)));
}

const reportOnly = (read: Read): Conditions => ({ ...nothing, reads: [read] });

const together = (all: readonly Conditions[]): Conditions => ({
  checks: all.flatMap(({ checks }) => checks),
  branches: all.flatMap(({ branches }) => branches),
  labels: all.flatMap(({ labels }) => labels),
  reads: all.flatMap(({ reads }) => reads),
});

function readOne(condition: unknown, at: string, role: 'queues' | 'merges', depth: number): Conditions {
  if (isRecord(condition) && Array.isArray(condition['and']) && depth < depthMax)
    return together(
      condition['and'].map((part, index) => readOne(part, `${at}.and[${index}]`, role, depth + 1)),
    );
  if (isRecord(condition))
    return reportOnly(
      unmapped(
        at,
        condition,
        'Signalbox supports neither or nor not. Add a required check that evaluates this condition.',
      ),
    );
  if (typeof condition !== 'string')
    return reportOnly(unknown(at, condition, 'The value is not a condition.'));
  return readText(condition.trim(), at, role);
}

const checkNames = new Set(['check-success', 'status-success', 'check-success-or-neutral']);
const held: Readonly<Record<string, string>> = {
  '-draft':
    'Signalbox does not test drafts: a draft waits, and a pull request that is converted to a draft is removed.',
  '-conflict': 'A pull request that conflicts with its branch waits.',
  '-closed': 'A closed pull request is removed from the queue.',
  '-merged': 'A merged pull request is removed from the queue.',
};
const reviews =
  /^-?#?(approved-reviews-by|changes-requested-reviews-by|review-requested|review-threads-(un)?resolved|github-review-(decision|approved)|github-code-owner-review-satisfied|branch-protection-review-decision)\b/;

function readText(text: string, at: string, role: 'queues' | 'merges'): Conditions {
  const [, name = text, operator = '', raw = ''] =
    /^([-#]{0,2}[a-z][a-z-]*)\s*(!=|~=|\*=|>=|<=|=|:|<|>)?\s*([^]*)$/i.exec(text) ?? [];
  const value = raw.trim().replace(/^(["'])([^]*)\1$/, '$2');
  const isEqual = operator === '=' || operator === ':';
  if (isEqual && checkNames.has(name) && value !== '')
    return {
      ...nothing,
      checks: [value],
      reads:
        role === 'merges'
          ? []
          : [
              atHost(
                at,
                text,
                'To require it before a pull request is queued, also require it in the branch protection of the Git host.',
              ),
            ],
    };
  if (isEqual && name === 'base' && value !== '')
    return { ...nothing, branches: [value], reads: [mapped(at, text, {}, `The queue of ${value}.`)] };
  if (isEqual && name === 'label' && role === 'queues' && value !== '')
    return { ...nothing, labels: [value] };
  if (Object.hasOwn(held, text)) return reportOnly(mapped(at, text, {}, held[text]));
  if (reviews.test(text))
    return reportOnly(
      atHost(
        at,
        text,
        'Require reviews in the branch protection of the Git host. The queue waits until the Git host reports a pull request as mergeable.',
      ),
    );
  if (name === 'base')
    return reportOnly(
      unmapped(
        at,
        text,
        'A queue belongs to one branch. Create one for each branch, with this file and --branch.',
      ),
    );
  if (name.endsWith('label'))
    return reportOnly(
      unmapped(
        at,
        text,
        'Signalbox reacts only to the label that submits. For other labels, add a required check that fails on them.',
      ),
    );
  if (name === 'schedule' || name === 'current-datetime')
    return reportOnly(
      unmapped(at, text, 'Signalbox has no schedule. Pause and resume the queue from a scheduled CI job.'),
    );
  return reportOnly(
    unmapped(at, text, 'Signalbox has no such condition. Add a required check that evaluates it.'),
  );
}
