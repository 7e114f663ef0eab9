// A log that keeps nothing, for tests that are not about it.

const drop = (): undefined => undefined;

export const silentLog = { debug: drop, info: drop, warn: drop, error: drop };
