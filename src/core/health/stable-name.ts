// The part of a test's name that is the same in every run. A name that contains a value of its run (an id, an address, an
// instant, a port, a temporary folder) is a new test each time, and a test without a second run has no history. Masked
// is only what no author writes into a name: short numbers and plain dates stay, they may be parameters.
//
//   connects to 127.0.0.1:49152   →   connects to <*>
//   parses 2024-02-29             stays

const volatileParts = [
  // UUIDs
  String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`,
  // An instant: a date with a time of day
  String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z\b|[+-]\d\d:?\d\d\b)?`,
  // Addresses in memory, also behind the name of an object
  String.raw`\b0x[0-9a-f]{6,16}\b`,
  String.raw`@[0-9a-f]{6,16}\b`,
  // A host of this machine with its port
  String.raw`\b(?:localhost|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}):\d{2,5}\b`,
  // Temporary folders
  String.raw`/(?:tmp|var/tmp|var/folders|private/tmp|private/var/folders)/[^\s"'<>(),:;\]]{1,256}`,
  // Times in seconds or smaller units, and ids of processes and rows of that size
  String.raw`\b\d{9,19}\b`,
];

const volatilePart = new RegExp(volatileParts.join('|'), 'giu');

export const stableName = (name: string): string => name.replaceAll(volatilePart, '<*>');
