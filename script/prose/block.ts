// What the rules of prose look at: headings, paragraphs and cells of tables, with everything that is not prose (code, targets of
// links, HTML) made unreadable at the same length, so that a place in the block is a place in the file.

export type BlockKind = 'heading' | 'paragraph' | 'cell';

export type Block = {
  readonly kind: BlockKind;
  readonly text: string;
};

type Sentence = {
  readonly text: string;
  /** Where it starts in its block. */
  readonly index: number;
};

/** The part of a node of the Markdown tree that is used here. */
export type ProseNode = {
  readonly type: string;
  readonly range: readonly [start: number, end: number];
  readonly children?: readonly ProseNode[];
};

const isCode = (node: ProseNode): boolean => node.type === 'Code';
const isText = (node: ProseNode): boolean => node.type === 'Str';

/** The text of a node from the source of its file: code becomes one word of `X`, marks become spaces. */
export function readableText(node: ProseNode, source: string): string {
  if (isText(node)) return source.slice(...node.range);
  if (isCode(node)) return 'X'.repeat(node.range[1] - node.range[0]);
  let text = '';
  let at = node.range[0];
  for (const child of node.children ?? []) {
    text += source.slice(at, child.range[0]).replaceAll(/\S/g, ' ') + readableText(child, source);
    at = child.range[1];
  }
  return text + source.slice(at, node.range[1]).replaceAll(/\S/g, ' ');
}

/** An abbreviation with a full stop, or the number of an item: no end of a sentence. */
const isAbbreviation = (before: string): boolean => /(?:\b(?:e\.g|i\.e|etc|vs)|^\s*\d+)\.$/.test(before);

export function sentences(text: string): readonly Sentence[] {
  const found: Sentence[] = [];
  let start = 0;
  const add = (end: number): void => {
    const part = text.slice(start, end);
    const lead = part.length - part.trimStart().length;
    if (part.trim() !== '') found.push({ text: part.trim(), index: start + lead });
    start = end;
  };
  for (const { 0: end, index } of text.matchAll(/[.!?]["”)]?(?=\s+["“(]?[A-Z0-9])/g))
    if (!isAbbreviation(text.slice(0, index + 1))) add(index + end.length);
  add(text.length);
  return found;
}
