// Priorities: lower runs first, and only `urgent` goes ahead of what is under test.

/** Named priorities and their values; any other number from 0 to 255 is its own name. */
export const priorities = { urgent: 0, high: 10, medium: 100, low: 200 } as const;
export type PriorityName = keyof typeof priorities;

export const defaultPriorityName: PriorityName = 'medium';
export const priorityMax = 255;

export function formatPriority(value: number): string {
  for (const [name, named] of Object.entries(priorities)) if (named === value) return name;
  return String(value);
}

export const isUrgent = (value: number): boolean => value === priorities.urgent;
