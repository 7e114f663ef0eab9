import { type Codeowners, parseInParts } from '#core/health/codeowners/codeowners.ts';

/** Reads a CODEOWNERS file in one go. */
export function parseCodeowners(...file: Parameters<typeof parseInParts>): Codeowners {
  const parts = parseInParts(...file);
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}
