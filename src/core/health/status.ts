export type HealthStatus = 'healthy' | 'flaky' | 'broken';

export type Mute = {
  /** A monitor's id, or `*`: all of them. */
  readonly monitor: string;
  /** Milliseconds. */
  readonly until: number;
};
