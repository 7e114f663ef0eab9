// The trailers of the test commit of a run of some tests. With them the commit differs from every commit of a run of all tests,
// so that the results of one never count for the other, and CI without `signalbox test` can read which tests to run:
//
//   Signalbox-Test-Count: 2
//   Signalbox-Test: {"file":"src/cart.test.ts","classname":"cart","name":"adds"}
//   Signalbox-Test: {"file":"src/cart.test.ts","classname":"cart","name":"removes"}
//
// The commit of a run that verifies a fix has `Signalbox-Test-Repeats: 50` as well: how often to run the test.
//
// If there are fewer lines than the count says, CI runs all tests. The text of an author never has such a line
// (skip-directive.ts).

/** The tests to name. A part of a name that is not known is empty. */
export type NamedTests = {
  readonly count: number;
  /** Fewer than `count`: the others are not known. */
  readonly tests: readonly { readonly file: string; readonly classname: string; readonly name: string }[];
  /** How often to run them. Default once. */
  readonly repeats?: number;
};

/** With more the tests are not listed. A message of this size is accepted by every Git host. */
const bytesMax = 64 * 1024;

// Only ASCII, whatever the encoding of the message, and nothing that CI reads as a directive: `[skip ci]`, `***NO_CI***`.
const escapeJson = (json: string): string =>
  json.replaceAll(/[^ -~]|[[*]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

export function formatSelection({ count, tests, repeats = 1 }: NamedTests): string {
  const lines =
    tests.length < count
      ? []
      : tests.map(
          ({ file, classname, name }) =>
            `Signalbox-Test: ${escapeJson(JSON.stringify({ file, classname, name }))}\n`,
        );
  const listed = lines.join('');
  const often = repeats > 1 ? `Signalbox-Test-Repeats: ${repeats}\n` : '';
  return `Signalbox-Test-Count: ${count}\n${often}${listed.length > bytesMax ? '' : listed}`;
}

/** Whether CI that reads the trailers would not run all tests on a commit with this message. */
export const selectsTests = (message: string): boolean =>
  /^signalbox-test(?:-count|-repeats)?[ \t]*:/im.test(message);

/** The message with the trailers as its last paragraph. */
export const withSelection = (message: Buffer, selection: NamedTests): Buffer => {
  let end = message.length;
  while (end > 0 && message[end - 1] === 0x0a) end--;
  return Buffer.concat([message.subarray(0, end), Buffer.from(`\n\n${formatSelection(selection)}`)]);
};
