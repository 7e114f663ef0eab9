// Splits bytes into lines, each with its number. A line that is too long is an error, so that a file that is no list of JSON lines
// cannot fill the memory.

/** What is wrong with a file, and what to do about it. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
}

export const lineError = (line: number, what: string): ReplayError =>
  new ReplayError(`Line ${line}: ${what}`);

export type Line = { readonly number: number; readonly text: string };

/** An upload of 200,000 named tests fits. */
const lineLengthMax = 64 * 1024 * 1024;

export async function* readLines(
  chunks: AsyncIterable<string>,
  lengthMax = lineLengthMax,
): AsyncGenerator<Line> {
  let parts: string[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      yield { number: number++, text: [...parts, chunk.slice(from, end)].join('') };
      parts = [];
      length = 0;
      from = end + 1;
    }
    parts.push(chunk.slice(from));
    length += chunk.length - from;
    if (length > lengthMax)
      throw lineError(number, `longer than ${lengthMax} characters. Write one upload on each line.`);
  }
  const rest = parts.join('');
  if (rest !== '') yield { number, text: rest };
}
