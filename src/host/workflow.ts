// Workflow files of GitHub, Gitea and Forgejo Actions, as far as the doctor reads them (GitHub docs,
// "Workflow syntax for GitHub Actions"). Pure: text in, plain data out. A file that is not a workflow is
// skipped.

import { parse } from 'yaml';
import type { WorkflowFile } from './host.ts';

export type WorkflowJob = {
  readonly id: string;
  /** What its check is called, without the values of a matrix. */
  readonly name: string;
  /** Its condition; empty: none. */
  readonly condition: string;
  readonly needs: readonly string[];
  /** What its steps use, such as `actions/checkout@v5`. */
  readonly uses: readonly string[];
};

type Trigger = {
  readonly branches: readonly string[] | null;
  readonly ignoredBranches: readonly string[];
  /** `paths` or `paths-ignore` is set. */
  readonly hasPaths: boolean;
};

export type Workflow = {
  readonly path: string;
  /** By event. */
  readonly triggers: ReadonlyMap<string, Trigger>;
  readonly jobs: readonly WorkflowJob[];
  /** A group whose earlier runs are cancelled; null: none are. */
  readonly cancelledGroup: string | null;
};

type Fields = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const texts = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : Array.isArray(value)
      ? value.filter((one) => typeof one === 'string')
      : [];

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? String(value) : '';

function parseTriggers(on: unknown): Workflow['triggers'] {
  const named = typeof on === 'string' || Array.isArray(on) ? texts(on).map((name) => [name, null]) : null;
  const entries = (named ?? Object.entries(fields(on))) as readonly (readonly [string, unknown])[];
  return new Map(
    entries.map(([name, value]) => {
      const given = fields(value);
      const trigger: Trigger = {
        // A workflow with only `tags` runs for no branch.
        branches:
          given['branches'] !== undefined
            ? texts(given['branches'])
            : given['tags'] === undefined
              ? null
              : [],
        ignoredBranches: texts(given['branches-ignore']),
        hasPaths: given['paths'] !== undefined || given['paths-ignore'] !== undefined,
      };
      return [name, trigger];
    }),
  );
}

const parseJob = ([id, value]: readonly [string, unknown]): WorkflowJob => {
  const job = fields(value);
  const steps = Array.isArray(job['steps']) ? job['steps'].map(fields) : [];
  return {
    id,
    name: text(job['name']) || id,
    condition: text(job['if']),
    needs: texts(job['needs']),
    uses: [...texts(job['uses']), ...steps.flatMap((step) => texts(step['uses']))],
  };
};

function cancelledGroup(concurrency: unknown): string | null {
  const { group, 'cancel-in-progress': cancels } = fields(concurrency);
  return cancels === undefined || cancels === false ? null : text(group);
}

/** Null: it is no workflow, or not YAML. */
export function parseWorkflow({ path, text: source }: Pick<WorkflowFile, 'path' | 'text'>): Workflow | null {
  let parsed: Fields;
  try {
    parsed = fields(parse(source, { logLevel: 'silent' }));
  } catch {
    return null;
  }
  if (parsed['on'] === undefined || parsed['jobs'] === undefined) return null;
  return {
    path,
    triggers: parseTriggers(parsed['on']),
    jobs: Object.entries(fields(parsed['jobs'])).map(parseJob),
    cancelledGroup: cancelledGroup(parsed['concurrency']),
  };
}

/**
 * Patterns of Actions: `*` matches anything but a slash, `**` anything; a later pattern overrides, `!`
 * excludes.
 */
function matchesBranches(patterns: readonly string[], branch: string): boolean {
  let isMatch = false;
  for (const pattern of patterns) {
    const isNegative = pattern.startsWith('!');
    const body = (isNegative ? pattern.slice(1) : pattern)
      .replaceAll(/[.^${}()|\\]/g, String.raw`\$&`)
      .replaceAll(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'));
    if (new RegExp(`^${body}$`).test(branch)) isMatch = !isNegative;
  }
  return isMatch;
}

/** Whether a push to a branch starts the workflow, whatever it changes. */
export function runsOnPush({ triggers }: Workflow, branch: string): boolean {
  const push = triggers.get('push');
  if (push === undefined || matchesBranches(push.ignoredBranches, branch)) return false;
  return push.branches === null || matchesBranches(push.branches, branch);
}
