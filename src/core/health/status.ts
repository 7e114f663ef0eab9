// What a test is called, and how people keep a monitor quiet.

export type HealthStatus = 'healthy' | 'flaky' | 'broken';

export type Mute = {
  /** A monitor's id, or `*`: all of them. */
  readonly monitor: string;
  /** Milliseconds: from then on it counts again. */
  readonly until: number;
};

export const isMuted = (mutes: readonly Mute[], monitor: string, now: number): boolean =>
  mutes.some((mute) => (mute.monitor === monitor || mute.monitor === '*') && mute.until > now);
