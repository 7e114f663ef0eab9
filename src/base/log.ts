type LogLine = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Static text plus fields: a message never has a value in it, so that logs can be grouped. */
export type Log = {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
};
