// Every strategy, and which of them a queue uses.

import type { QueueSettings } from '../settings.ts';
import { foresee } from './strategy/foresee.ts';
import { prefixTrain } from './strategy/prefix-train.ts';
import { screenThenChain } from './strategy/screen-then-chain.ts';
import { type ExplainedStrategy, isDirect } from './strategy.ts';

/** In parallel lanes a change is in few runs, so that screens would find little: there it speculates, without batches. */
const adaptive: Readonly<Record<QueueSettings['mode'], ExplainedStrategy>> = {
  single: screenThenChain,
  parallel: foresee,
};

export const strategyFor = ({
  strategy,
  mode,
}: Pick<QueueSettings, 'strategy' | 'mode'>): ExplainedStrategy =>
  strategy === 'adaptive' ? adaptive[mode] : prefixTrain;

/** Whether the queue speculates in parallel lanes, with direct dependencies. */
export const speculates = (settings: Pick<QueueSettings, 'strategy' | 'mode'>): boolean =>
  isDirect(strategyFor(settings), settings);
