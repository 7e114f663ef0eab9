// Workflow files of GitHub, Gitea and Forgejo Actions, as far as the doctor reads them (GitHub docs,
// "Workflow syntax for GitHub Actions"). Pure: text in, plain data out. A file that is not a workflow is
// skipped.

import { parse } from 'yaml';

/** A file of GitHub, Gitea or Forgejo Actions. */
export type WorkflowFile = {
  readonly path: string;
  readonly text: string;
  /** Its blob. */
  readonly sha: string;
};

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

/** The folders of Actions, of GitHub, Gitea and Forgejo. */
const workflowFile = /^\.(github|gitea|forgejo)\/workflows\//;

/** Of the commits of a push, as webhooks list them. */
export type PushedFiles = {
  readonly added: readonly string[];
  readonly modified: readonly string[];
  readonly removed: readonly string[];
};

export const changesWorkflows = (commits: readonly PushedFiles[]): boolean =>
  commits.some((commit) =>
    [...commit.added, ...commit.modified, ...commit.removed].some((path) => workflowFile.test(path)),
  );

type Fields = Readonly<Record<string, unknown>>;

export const fields = (value: unknown): Fields =>
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

/** A step of a pattern: the letters that it takes. */
type PatternStep = {
  readonly takes: (letter: string) => boolean;
  /** It may be left out. */
  readonly isOptional: boolean;
  /** It may be taken again. Such a step is optional. */
  readonly isRepeated: boolean;
};

/** `a-z` of `[a-z]`, and single letters. */
function letterSet(text: string): PatternStep['takes'] {
  const ranges = [...text.matchAll(/(.)-(.)|(.)/gs)].map(([, from, to, one]) => [from ?? one!, to ?? one!]);
  return (letter) => ranges.some(([from, to]) => from! <= letter && letter <= to!);
}

function parsePattern(pattern: string): readonly PatternStep[] {
  const steps: PatternStep[] = [];
  const once = { isOptional: false, isRepeated: false };
  const repeated = { isOptional: true, isRepeated: true };
  for (const [token] of pattern.matchAll(/\*\*|\[[^\]]*\]|\\.|./gs)) {
    const before = steps.at(-1);
    if (token === '**') steps.push({ takes: () => true, ...repeated });
    else if (token === '*') steps.push({ takes: (letter) => letter !== '/', ...repeated });
    else if (token === '?' && before !== undefined) steps.splice(-1, 1, { ...before, isOptional: true });
    else if (token === '+' && before !== undefined) steps.push({ ...before, ...repeated });
    else if (token.startsWith('[') && token.length > 2)
      steps.push({ takes: letterSet(token.slice(1, -1)), ...once });
    else steps.push({ takes: (letter) => letter === token.at(-1), ...once });
  }
  return steps;
}

/**
 * All steps that the branch may have reached are followed at once. As a regular expression, `**0**0**0` would take time that grows
 * with a high power of the name's length, and anyone who may push writes these patterns.
 */
function matchesPattern(pattern: string, branch: string): boolean {
  const steps = parsePattern(pattern);
  const reach = (from: Iterable<number>): Set<number> => {
    const reached = new Set(from);
    for (const at of reached) if (steps[at]?.isOptional === true) reached.add(at + 1);
    return reached;
  };
  let places = reach([0]);
  for (const letter of branch) {
    const taken = [...places].filter((at) => steps[at]?.takes(letter) === true);
    places = reach(taken.map((at) => (steps[at]!.isRepeated ? at : at + 1)));
  }
  return places.has(steps.length);
}

/** Patterns of Actions; a later one overrides an earlier one, `!` excludes (GitHub docs, "Filter pattern cheat sheet"). */
function matchesBranches(patterns: readonly string[], branch: string): boolean {
  let isMatch = false;
  for (const pattern of patterns) {
    const isNegative = pattern.startsWith('!');
    if (matchesPattern(isNegative ? pattern.slice(1) : pattern, branch)) isMatch = !isNegative;
  }
  return isMatch;
}

/** Whether a push to a branch starts the workflow, whatever it changes. */
export function runsOnPush({ triggers }: Workflow, branch: string): boolean {
  const push = triggers.get('push');
  if (push === undefined || matchesBranches(push.ignoredBranches, branch)) return false;
  return push.branches === null || matchesBranches(push.branches, branch);
}
