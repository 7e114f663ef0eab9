// The dashboard combines calls that change nothing into one request: see http/app/app-calls.ts.

/** Most calls in one request. */
export const callsMax = 20;

/** Whether it changes nothing. */
export const isQuestion = (operation: string): boolean => /^(get|list|search)/.test(operation);
