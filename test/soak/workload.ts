// The pull requests of a soak, and the truth about them. The truth is in the tree: `ci.sh` fails where a file under
// breaks/ is present, or both halves of a pair. A pull request that breaks alone adds the first, two that break together
// add one half each. More files never repair a tree, so a commit is green if a later one on its branch is.
//
//   #7   changes/7.txt, breaks/7                 guilty, whatever else is on the branch
//   #8   changes/8.txt, pairs/8-11.a             innocent until #11 has landed
//   #11  changes/11.txt, pairs/8-11.b            guilty once #8 has landed
//
// Two that break together share a target, so lanes that are told the targets never test them apart.

import type { QueueSettings } from '#core/queue/settings.ts';
import { createRandom } from '#tool/simulate/kernel/random.ts';

export type Change = {
  readonly number: number;
  readonly branch: string;
  readonly files: Readonly<Record<string, string>>;
  readonly targets: readonly string[];
  readonly breaksAlone: boolean;
  /** The numbers of those it breaks together with. */
  readonly breaksWith: readonly number[];
};

export type Line = { readonly branch: string; readonly settings: Partial<QueueSettings> };

/** One queue each: the ways a queue can be run, in as few of them as show each. */
export const lines: readonly Line[] = [
  {
    branch: 'main',
    settings: {
      batch: true,
      batchingMinSize: 4,
      batchingMaxWaitTimeMinutes: 0,
      canOptimisticallyMerge: true,
      pendingFailureDepth: 2,
      concurrency: 4,
    },
  },
  {
    branch: 'lanes',
    settings: { mode: 'parallel', concurrency: 8, canOptimisticallyMerge: true, mergeMethod: 'merge_commit' },
  },
  {
    branch: 'batched-lanes',
    settings: {
      mode: 'parallel',
      batch: true,
      batchingMinSize: 4,
      batchingMaxWaitTimeMinutes: 0,
      concurrency: 6,
      optimizationMode: 'bisection_skip_redundant_tests',
    },
  },
  {
    branch: 'by-host',
    settings: { landingMode: 'host', canOptimisticallyMerge: true, pendingFailureDepth: 1, concurrency: 6 },
  },
  {
    branch: 'plain',
    settings: { mergeMethod: 'rebase', concurrency: 6 },
  },
];

/** Exits with 1 and says why if the tree is broken. */
export const script = `#!/bin/sh
for file in breaks/*; do
  if [ -e "$file" ]; then echo "$file breaks the tree"; exit 1; fi
done
for file in pairs/*.a; do
  if [ -e "$file" ] && [ -e "\${file%.a}.b" ]; then echo "both halves of \${file%.a} are here"; exit 1; fi
done
exit 0
`;

const aloneShare = 0.05;
const pairShare = 0.04;
/** Pairs are looked for among so many neighbours of one branch. */
const neighbours = 10;
const targetCount = 8;

type Draft = { readonly number: number; readonly targets: readonly string[]; readonly breaksAlone: boolean };

function changesOf(branch: string, numbers: readonly number[], seed: number): Change[] {
  const random = createRandom(seed, branch);
  const drawTarget = () => `//target/${Math.floor(random() * targetCount)}`;
  const drafts = numbers.map((number): Draft => {
    const targets = new Set([drawTarget(), ...(random() < 0.5 ? [drawTarget()] : [])]);
    return { number, targets: [...targets], breaksAlone: random() < aloneShare };
  });
  const pairs: (readonly [number, number])[] = [];
  for (const [at, later] of drafts.entries())
    for (const earlier of drafts.slice(Math.max(0, at - neighbours), at))
      if (earlier.targets.some((target) => later.targets.includes(target)) && random() < pairShare)
        pairs.push([earlier.number, later.number]);
  return drafts.map(({ number, targets, breaksAlone }) => {
    const halves = pairs.flatMap(([a, b]) =>
      a === number ? [`pairs/${a}-${b}.a`] : b === number ? [`pairs/${a}-${b}.b`] : [],
    );
    const paths = [`changes/${number}.txt`, ...(breaksAlone ? [`breaks/${number}`] : []), ...halves];
    return {
      number,
      branch,
      targets,
      breaksAlone,
      files: Object.fromEntries(paths.map((path) => [path, `#${number}\n`])),
      breaksWith: pairs.flatMap(([a, b]) => (a === number ? [b] : b === number ? [a] : [])),
    };
  });
}

/** So many pull requests, dealt over the lines; the same for the same seed. */
export function createWorkload(count: number, seed: number, on: readonly Line[]): readonly Change[] {
  return on.flatMap(({ branch }, at) => {
    const size = Math.floor(count / on.length) + (at < count % on.length ? 1 : 0);
    const numbers = Array.from({ length: size }, (_, index) => 1 + at + index * on.length);
    return changesOf(branch, numbers, seed);
  });
}

/** Whether it may not land, given what has landed. */
export const isGuilty = ({ breaksAlone, breaksWith }: Change, landed: ReadonlySet<number>): boolean =>
  breaksAlone || breaksWith.some((number) => landed.has(number));
