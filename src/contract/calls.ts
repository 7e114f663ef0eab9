// Calls of the dashboard that only ask go together in one request: see http/app-calls.ts.

/** In one request. */
export const callsMax = 20;

/** Whether it changes nothing. */
export const isQuestion = (operation: string): boolean => /^(get|list|search)/.test(operation);
