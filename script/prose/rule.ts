// The rules of our prose. Each finds places in a block and says what to write instead. A rule that would make a good sentence
// worse does not belong here: what a person must decide is in the glossary and in CONTRIBUTING.
import { fillers, oneName, properNouns } from '../word-list.ts';
import { refusedInProse } from '../word-use.ts';
import { sentences, type Block } from './block.ts';

type Fault = {
  /** Where it starts in the block. */
  readonly index: number;
  readonly message: string;
};

export type ProseRule = {
  readonly id: string;
  readonly find: (block: Block) => readonly Fault[];
};

/** Long enough for a sentence with a list in it; what is longer says two things. */
const maxWords = 45;

const wordCount = (text: string): number => text.match(/[\p{L}\p{N}][\p{L}\p{N}’'/_.-]*/gu)?.length ?? 0;

const words: ProseRule = {
  id: 'words',
  find: ({ text }) =>
    refusedInProse(text).map(({ what, instead, index }) => ({
      index,
      message: `“${what}” is not a word of this field. Write: ${instead}.`,
    })),
};

const sentenceLength: ProseRule = {
  id: 'sentence-length',
  find: ({ text }) =>
    sentences(text).flatMap(({ text: sentence, index }) => {
      const count = wordCount(sentence);
      return count > maxWords
        ? [{ index, message: `The sentence has ${count} words, more than ${maxWords}. Split it.` }]
        : [];
    }),
};

/** "What was submitted is tested" has no noun; "The pull request is tested" has. A question may begin so, and a lead to a list. */
const subject: ProseRule = {
  id: 'subject',
  find: ({ kind, text }) =>
    kind === 'paragraph'
      ? sentences(text).flatMap(({ text: sentence, index }) =>
          /^(?:what|who|whatever|whoever|whichever)\s[a-z]/i.test(sentence) &&
          /[.!;]["”)]?$/.test(sentence) &&
          !/^[^.]{1,40}:/.test(sentence) &&
          wordCount(sentence) > 5
            ? [
                {
                  index,
                  message: `“${sentence.slice(0, 30)}…” has no subject. Name it: the pull request, the run, you.`,
                },
              ]
            : [],
        )
      : [],
};

const passive: ProseRule = {
  id: 'passive',
  find: ({ text }) =>
    [
      ...text.matchAll(
        /\b(?:is|are|was|were|be|been|being)\s+(?:told|said to|made)\b(?!\s+(?:of|for|up|to be)\b)/gi,
      ),
    ].map(({ 0: what, index }) => ({
      index,
      message: `“${what}” hides who acts. Name the subject and the verb: Signalbox creates, reports, requests.`,
    })),
};

const headingCase: ProseRule = {
  id: 'heading-case',
  find: ({ kind, text }) =>
    kind === 'heading'
      ? [...text.matchAll(/(?<=[\p{L}\d,)’]\s+)\p{Lu}\p{Ll}+(?![\p{L}])/gu)].flatMap(({ 0: what, index }) =>
          properNouns.has(what) || /[.:?!]\s*$/.test(text.slice(0, index))
            ? []
            : [{ index, message: `“${what}” is capitalized. Headings are in sentence case.` }],
        )
      : [],
};

const filler: ProseRule = {
  id: 'filler',
  find: ({ text }) =>
    [...text.matchAll(fillers)].map(({ 0: what, index }) => ({
      index,
      message: `“${what}” says nothing, and is wrong for a reader who finds it hard. Leave it out.`,
    })),
};

const glossary: ProseRule = {
  id: 'one-name',
  find: ({ text }) =>
    oneName.flatMap(({ pattern, instead }) =>
      [...text.matchAll(pattern)].map(({ 0: what, index }) => ({
        index,
        message: `“${what}” has another name in our glossary. Write: ${instead}.`,
      })),
    ),
};

export const proseRules: readonly ProseRule[] = [
  words,
  sentenceLength,
  subject,
  passive,
  headingCase,
  filler,
  glossary,
];
