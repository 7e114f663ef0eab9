// Divides the test files of a suite among the shards of a CI job, so that the longest shard is short.
//
//   file       what a shard gets as a whole: a test file, a package or a class
//   duration   how long the tests of the file usually take together; unknown for a new file
//   even       the division by count alone: the files in order of name, dealt out one by one
//
// The longest file is placed first, each into the shard with the least so far (longest processing time first). The longest
// shard is then at most a third longer than the best division. A file without a duration counts as the median of the
// others. If the even division happens to be shorter, it is used.
//
// All shards of a run compute the same division: it depends on the set of files and on their durations alone, not
// on the order in which they are listed.
//
// Example: a takes 6 s, b 5 s, c 4 s and d 1 s, with two shards. By name, a and c take 10 s. Here a and d take 7 s,
// b and c 9 s; it saves 1 s.

export type SplitFile = {
  /** Unique among the files. */
  readonly name: string;
  /** Null: not known. */
  readonly durationMs: number | null;
};

export type Split = {
  /** For each shard the files, as indexes in the list that was given, ascending. */
  readonly shards: readonly (readonly number[])[];
  /** How long each shard takes; without any known duration, how many files it has. */
  readonly loads: readonly number[];
  /** How long the longest shard of the even division takes. */
  readonly evenLongest: number;
  /** How many files have no duration, and as how long each of them counts. Null: none has one. */
  readonly unknown: number;
  readonly medianMs: number | null;
};

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function splitFiles(files: readonly SplitFile[], shardCount: number): Split {
  const known = files.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
  const medianMs = median(known);
  const weights = files.map(({ durationMs }) => (medianMs === null ? 1 : (durationMs ?? medianMs)));
  const byName = files
    .map((_, index) => index)
    .toSorted((a, b) => byText(files[a]!.name, files[b]!.name) || a - b);
  const even = evenShards(byName, shardCount);
  const longestFirst = byName.toSorted((a, b) => weights[b]! - weights[a]!);
  const packed = packShards(longestFirst, weights, shardCount);
  const evenLongest = longestLoad(even, weights);
  const shards = longestLoad(packed, weights) <= evenLongest ? packed : even;
  return {
    shards: shards.map((shard) => shard.toSorted((a, b) => a - b)),
    loads: shards.map((shard) => sumWeights(shard, weights)),
    evenLongest,
    unknown: files.length - known.length,
    medianMs,
  };
}

const sumWeights = (shard: readonly number[], weights: readonly number[]): number =>
  shard.reduce((sum, index) => sum + weights[index]!, 0);

const longestLoad = (shards: readonly (readonly number[])[], weights: readonly number[]): number =>
  Math.max(...shards.map((shard) => sumWeights(shard, weights)));

function evenShards(order: readonly number[], shardCount: number): readonly (readonly number[])[] {
  const shards = Array.from({ length: shardCount }, (): number[] => []);
  for (const [place, index] of order.entries()) shards[place % shardCount]!.push(index);
  return shards;
}

/** Each file goes to the shard with the smallest sum; of equal ones, to that with fewer files, then to the first. */
function packShards(
  order: readonly number[],
  weights: readonly number[],
  shardCount: number,
): readonly (readonly number[])[] {
  const shards = Array.from({ length: shardCount }, () => ({ load: 0, files: [] as number[] }));
  for (const index of order) {
    let least = shards[0]!;
    for (const shard of shards)
      if (shard.load < least.load || (shard.load === least.load && shard.files.length < least.files.length))
        least = shard;
    least.files.push(index);
    least.load += weights[index]!;
  }
  return shards.map(({ files }) => files);
}

/** The middle value; of two middle ones the smaller. Null: there is none. */
function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
