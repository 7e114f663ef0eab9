// Parses durations.

import { InvalidArgumentError } from 'commander';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** 90s, 30m, 2h or plain seconds, in milliseconds. */
export function parseSpan(text: string): number {
  const [, digits, unit = 's'] = /^(\d{1,6}(?:\.\d+)?)\s*(s|m|h|d)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined)
    throw new InvalidArgumentError('It is not a duration. Use for example 90s, 30m or 2h.');
  return Number(digits) * unitMs[unit.toLowerCase() as keyof typeof unitMs];
}
