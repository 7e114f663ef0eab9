// The conditions of Mergify. A few of them are what a queue needs to know: the branch, the checks, the label that submits.
// Others hold here in any case, or are for the host to require. The rest has no counterpart, and is told one by one.
//
//   check-success=unit        a required check
//   base=main                 the branch of the queue
//   label=ready               what submits, where the rule is one that queues

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

/** `role` says what a label means here. */
export function readConditions(value: unknown, at: string, role: 'queues' | 'merges'): Conditions {
  if (value === true) return nothing;
  if (!Array.isArray(value)) return told(unknown(at, value, 'It is not a list of conditions.'));
  return together(value.map((condition, index) => readOne(condition, `${at}[${index}]`, role, 0)));
}

const told = (read: Read): Conditions => ({ ...nothing, reads: [read] });

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
    return told(
      unmapped(
        at,
        condition,
        'Conditions are not combined with or, nor negated: a check of your own can say it.',
      ),
    );
  if (typeof condition !== 'string') return told(unknown(at, condition, 'It is not a condition.'));
  return readText(condition.trim(), at, role);
}

const checkNames = new Set(['check-success', 'status-success', 'check-success-or-neutral']);
const held: Readonly<Record<string, string>> = {
  '-draft': 'A draft is not tested: it waits, or leaves if it becomes one.',
  '-conflict': 'What conflicts with its branch is not mergeable, and waits.',
  '-closed': 'What is closed leaves the queue.',
  '-merged': 'What is merged leaves the queue.',
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
          : [atHost(at, text, 'Before it is queued: require it in the branch protection of the host too.')],
    };
  if (isEqual && name === 'base' && value !== '')
    return { ...nothing, branches: [value], reads: [mapped(at, text, {}, `The queue of ${value}.`)] };
  if (isEqual && name === 'label' && role === 'queues' && value !== '')
    return { ...nothing, labels: [value] };
  if (Object.hasOwn(held, text)) return told(mapped(at, text, {}, held[text]));
  if (reviews.test(text))
    return told(
      atHost(
        at,
        text,
        'Require reviews in the branch protection of the host: the queue waits until it calls a pull request mergeable.',
      ),
    );
  if (name === 'base')
    return told(
      unmapped(at, text, 'A queue belongs to one branch. Make one for each, with this file and --branch.'),
    );
  if (name.endsWith('label'))
    return told(
      unmapped(
        at,
        text,
        'Only one label means something, the one that submits. A check of your own can fail on others.',
      ),
    );
  if (name === 'schedule' || name === 'current-datetime')
    return told(
      unmapped(at, text, 'There are no hours. Pause and resume the queue by a scheduled job of CI.'),
    );
  return told(
    unmapped(at, text, 'There is no such condition. A check of your own, required by the host, can say it.'),
  );
}
