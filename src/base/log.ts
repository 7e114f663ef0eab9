type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Static text plus fields: a message never has a value in it, so that logs can be grouped. */
export type Log = {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
};

/** The same log with functions that stand alone: those of a logger may need their object (`const line = log.warn`). */
export const standalone = (log: Log): Log => ({
  debug: (fields, message) => log.debug(fields, message),
  info: (fields, message) => log.info(fields, message),
  warn: (fields, message) => log.warn(fields, message),
  error: (fields, message) => log.error(fields, message),
});
