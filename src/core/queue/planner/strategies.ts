// Every strategy, and which of them a queue uses.

import type { QueueSettings } from '../settings.ts';
import { foresee } from './foresee/foresee.ts';
import { prefixTrain } from './prefix-train.ts';
import { screenThenChain } from './screen-then-chain.ts';
import type { ExplainedStrategy, Strategy } from './strategy.ts';

const strategies = {
  prefixTrain,
  screenThenChain,
  foresee,
} as const satisfies Readonly<Record<string, Strategy>>;

/** In parallel lanes a change is in few runs, so that screens would find little: there the batch settings apply. */
export const strategyFor = ({
  strategy,
  mode,
}: Pick<QueueSettings, 'strategy' | 'mode'>): ExplainedStrategy =>
  strategy === 'adaptive' && mode === 'single' ? strategies.screenThenChain : strategies.prefixTrain;
