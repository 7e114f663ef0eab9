// The input of the doctor.

import type { Queue } from '#core/queue/model.ts';
import type { Inspection } from './host.ts';
import type { ActiveRule } from './rule.ts';

export type DoctorInput = {
  readonly inspection: Inspection;
  /** The rules that are active for the branch, for the queue's method and way of landing. */
  readonly rules: readonly ActiveRule[];
  readonly queue: Pick<Queue, 'targetBranch' | 'settings'>;
  /** How the queue lands here. */
  readonly lands: 'fast_forward' | 'host';
  /** The host shows a pull request as merged whose commits were pushed. */
  readonly isShownAsMerged: boolean;
  /**
   * The URL of the connection, and those that lead to Signalbox as well. Null: there is no queue yet, and Signalbox sets the
   * webhook when it is created.
   */
  readonly webhookUrls: readonly [own: string, ...sharing: string[]] | null;
};
