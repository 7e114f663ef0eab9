// Plans the builds most likely to be needed, over all changes and all their paths.
//
// A build is needed if its path comes true, so its worth is the product of the probabilities of what it assumes of
// each pending predecessor. For each change the paths come out of a stream in order of worth; the plan merges the
// streams until the slots are full.
//
// Example: 3 shares with 1 (0.97 to land) and 2 (0.6). Its paths in order: '11' 0.582, '10' 0.388, '01' 0.018, '00'
// 0.012. If 4 shares with nothing, its only build is worth 1 and comes before all of these.
//
// The stream starts with the likeliest path and turns assumptions over, the cheapest first: of n assumptions sorted by
// the price of turning them over, each set of turned ones is reached once, from a set that is worth more, by either
// adding the next assumption or moving the last one on.

import { landed, pending, type GraphQueue } from './graph-queue.ts';
import type { Planner, Wanted } from './graph-simulation.ts';
import { createHeap, type Heap } from '#tool/simulate/kernel/heap.ts';

export type BestFirstOptions = {
  /** The probability that a pending change lands. */
  readonly landingProbability: (place: number) => number;
  /** Builds less likely to be needed than this are never started. 0 to 1. */
  readonly threshold: number;
};

type Candidate = Wanted & { readonly logWorth: number; readonly turned: readonly number[] };

type Stream = {
  readonly place: number;
  /** Candidates found so far, most worth first. */
  readonly found: Candidate[];
  readonly frontier: Heap<Candidate>;
  /** The likeliest path, as characters. */
  readonly likeliest: readonly string[];
  /** For each pending predecessor, cheapest first: its position in the path. */
  readonly positions: Int32Array;
  /** In the same order: the log of how many times less likely it is that the assumption is wrong. */
  readonly prices: Float64Array;
  /** Candidates the current plan has taken. */
  taken: number;
};

/** Keeps a certain predecessor (0 or 1) from making all other paths of a change worth nothing alike. */
const doubtMin = 1e-9;

/** A plan looks at so many candidates for each slot: most of what it skips has a result already. */
const candidatesPerSlot = 6;

export function createBestFirstPlanner(queue: GraphQueue, options: BestFirstOptions): Planner {
  const streams: (Stream | undefined)[] = queue.changes.map(() => undefined);
  const lowest = Math.log(options.threshold);
  const worthOfNext = (stream: Stream) => stream.found[stream.taken]!.logWorth;
  const plan = (slots: number) => {
    const wanted: Wanted[] = [];
    const heap = createHeap<Stream>((one, other) => worthOfNext(one) > worthOfNext(other));
    for (const place of queue.pendingPlaces) {
      const stream = (streams[place] ??= createStream(queue, place, options));
      stream.taken = 0;
      heap.push(stream);
    }
    for (let looks = slots * candidatesPerSlot; looks > 0 && wanted.length < slots; looks--) {
      const stream = heap.first();
      if (!stream || worthOfNext(stream) < lowest) break;
      const candidate = stream.found[stream.taken]!;
      if (!queue.results[candidate.place]!.has(candidate.path)) wanted.push(candidate);
      stream.taken++;
      if (stream.taken < stream.found.length || findNext(stream)) heap.sinkFirst();
      else heap.pop();
    }
    return wanted;
  };
  return {
    plan,
    predecessorDecided: (place, _position, hasLanded) => {
      streams[place] = undefined;
      // One conflict less to fear: the change is likelier to land, which all that share with it must know.
      if (!hasLanded) for (const follower of queue.followers[place]!) streams[follower.place] = undefined;
    },
  };
}

function createStream(queue: GraphQueue, place: number, { landingProbability }: BestFirstOptions): Stream {
  const assumptions: { position: number; price: number }[] = [];
  let logWorth = 0;
  const likeliest = Array.from(queue.predecessors[place]!, (predecessor, position) => {
    if (queue.state[predecessor] !== pending) return queue.state[predecessor] === landed ? '1' : '0';
    const landing = landingProbability(predecessor);
    const likelier = Math.max(landing, 1 - landing);
    logWorth += Math.log(likelier);
    assumptions.push({ position, price: Math.log(likelier / Math.max(1 - likelier, doubtMin)) });
    return landing >= 0.5 ? '1' : '0';
  });
  assumptions.sort((one, other) => one.price - other.price);
  return {
    place,
    found: [{ place, path: likeliest.join(''), logWorth, turned: [] }],
    frontier: createHeap((one, other) => one.logWorth > other.logWorth),
    likeliest,
    positions: Int32Array.from(assumptions, ({ position }) => position),
    prices: Float64Array.from(assumptions, ({ price }) => price),
    taken: 0,
  };
}

/** Finds the next candidate of the stream, if there is another path. */
function findNext(stream: Stream): boolean {
  const { found, frontier, prices } = stream;
  const { turned, logWorth } = found.at(-1)!;
  const last = turned.at(-1) ?? -1;
  if (last + 1 < prices.length) {
    const price = prices[last + 1]!;
    frontier.push(createCandidate(stream, [...turned, last + 1], logWorth - price));
    if (last >= 0)
      frontier.push(
        createCandidate(stream, [...turned.slice(0, -1), last + 1], logWorth - price + prices[last]!),
      );
  }
  const next = frontier.pop();
  if (next) found.push(next);
  return next !== undefined;
}

function createCandidate(stream: Stream, turned: readonly number[], logWorth: number): Candidate {
  const path = [...stream.likeliest];
  for (const at of turned) {
    const position = stream.positions[at]!;
    path[position] = path[position] === '1' ? '0' : '1';
  }
  return { place: stream.place, path: path.join(''), logWorth, turned };
}
