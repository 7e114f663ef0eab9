// The train that the settings describe: every group on top of all groups ahead that it depends on, in batches if
// the queue batches (batch.ts).

import { minuteMs } from '#base/duration.ts';
import { formGroups } from '../batch.ts';
import type { ExplainedStrategy } from '../strategy.ts';

export const prefixTrain: ExplainedStrategy = {
  screens: false,
  describeBatches: ({ settings: { batch, batchingMinSize: size, batchingMaxWaitTimeMinutes: wait } }) =>
    batch ? { size, waitMs: wait * minuteMs, failureShare: null } : null,
  propose: ({ queue, pending, free, now }) => {
    const { groups, wakeAt } = formGroups(pending, queue.settings, free, now);
    return { proposals: groups.map((group) => ({ members: group.map((item) => item.pr) })), wakeAt };
  },
};
