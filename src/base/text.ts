// What regular expressions do slowly. A pattern such as /\/+$/ starts again at every slash, so it takes the square of a
// text that holds many of them; these functions read each character once.

/** The text without the characters at its end that are `mark`, which is one character. */
export function withoutTrailing(text: string, mark: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === mark) end -= 1;
  return text.slice(0, end);
}

/** The text before the first character that is one of `marks`; all of it if there is none. */
export function textBefore(text: string, marks: string): string {
  for (let at = 0; at < text.length; at += 1) if (marks.includes(text[at]!)) return text.slice(0, at);
  return text;
}
