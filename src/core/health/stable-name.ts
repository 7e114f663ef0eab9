// The part of a test's name that is the same in every run. A name that contains a value of its run (an id, an address, an
// instant, a port, a temporary folder) is a new test each time, and a test without a second run has no history. Masked
// is only what no author writes into a name: short numbers and plain dates stay, they may be parameters.
//
//   connects to 127.0.0.1:49152   →   connects to <*>
//   parses 2024-02-29             stays

const volatileParts = [
  // UUIDs
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/giu,
  // An instant: a date with a time of day
  /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z\b|[+-]\d\d:?\d\d\b)?/giu,
  // Addresses in memory, also behind the name of an object
  /(?:\b0x|@)[0-9a-f]{6,16}\b/giu,
  // A host of this machine with its port
  /\b(?:localhost|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}):\d{2,5}\b/giu,
  // Temporary folders
  /\/(?:tmp|var\/tmp|var\/folders|private\/tmp|private\/var\/folders)\/[^\s"'<>(),:;\]]{1,256}/giu,
  // Times in seconds or smaller units, and ids of processes and rows of that size
  /\b\d{9,19}\b/gu,
];

/** Every part has a digit or a temporary folder, and most names have neither. */
const mayBeVolatile = /\d|\/tmp\/|\/folders\//u;

export const stableName = (name: string): string =>
  mayBeVolatile.test(name) ? volatileParts.reduce((text, part) => text.replaceAll(part, '<*>'), name) : name;
