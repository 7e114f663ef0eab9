// The rules of prose as rules of textlint, over one text in Markdown.
import { TextlintKernel, type TextlintKernelOptions } from '@textlint/kernel';
// The class itself: Node.js and vitest disagree about what the default export of a CommonJS module is.
import { MarkdownProcessor } from '@textlint/textlint-plugin-markdown/lib/src/MarkdownProcessor.js';
import { readableText, type BlockKind, type ProseNode } from './block.ts';
import { proseRules, type ProseRule } from './rule.ts';

type TextlintRule = NonNullable<TextlintKernelOptions['rules']>[number]['rule'];

export type ProseFault = {
  readonly rule: string;
  readonly line: number;
  readonly message: string;
};

const kernel = new TextlintKernel();

function textlintRule({ find }: ProseRule): TextlintRule {
  return (context) => {
    const check =
      (kind: BlockKind) =>
      (node: ProseNode & Parameters<typeof context.report>[0]): void => {
        const text = readableText(node, source());
        for (const { index, message } of find({ kind, text }))
          context.report(node, new context.RuleError(message, { index }));
      };
    let whole = '';
    const source = (): string => whole;
    return {
      Document: (node) => {
        whole = context.getSource(node);
      },
      Header: check('heading'),
      Paragraph: check('paragraph'),
      TableCell: check('cell'),
    };
  };
}

export async function lintProse(text: string): Promise<readonly ProseFault[]> {
  const { messages } = await kernel.lintText(text, {
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: { Processor: MarkdownProcessor } }],
    rules: proseRules.map((rule) => ({ ruleId: rule.id, rule: textlintRule(rule) })),
  });
  return messages.map(({ ruleId, loc, message }) => ({ rule: ruleId, line: loc.start.line, message }));
}
